/// The times of a transfer that libcurl does not watch.
extension Transfer {
    /// The end of the time for all that does not move.
    var deadline: ContinuousClock.Instant { start + patience.grace + settings.fetch.timeout }

    /// The rest of that time.
    var timeLeft: Duration { max(.zero, deadline - .now) }

    /// When the engine has to look whether the transfer goes on; nil where libcurl watches the time, or the transfer waits for us.
    var nextLook: ContinuousClock.Instant? {
        if let answerDeadline { return answerDeadline }
        guard handle != nil, state.phase == .body else { return nil }
        return patience.nextLook(atBody: state.hasBody, deadline: deadline)
    }

    /// To be called when `nextLook` is over. False ends the transfer.
    func look(at now: ContinuousClock.Instant) -> Bool {
        if answerDeadline != nil {
            state.gaveUpWaiting(after: settings.answerTimeout)
        } else if state.hasBody {
            return state.tookFromWire(bytesOnWire()) && state.looked(patience.look(at: now))
        } else {
            state.ranOutOfTime()
        }
        return false
    }

    /// The bytes of its connection that the current answer has taken. On a used connection the first look says how many belong to earlier answers.
    private func bytesOnWire() -> UInt64 {
        guard let ends, let read = handle?.readBytes(ends) else { return 0 }
        let before = readBefore ?? (state.isOnUsedConnection ? read - min(read, UInt64(state.transferredBytes)) : 0)
        readBefore = before
        return read - min(read, before)
    }
}
