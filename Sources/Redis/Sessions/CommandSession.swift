internal import GannetBase

/// Commands and replies on one connection: a queue of unsent requests, and a queue of pending commands.
///
/// A command is written to the output only when the socket can take it. Until then a cancelled or expired command is not sent at all, and a
/// command that never reached a lost connection is sent on the next one.
final class CommandSession: Session {
    typealias Instant = ContinuousClock.Instant

    private let mailbox: Mailbox<Request>
    private let address: RedisAddress
    private var arrived: [Request] = []
    private var unsent = Fifo<Request>()
    private var pending = Fifo<PendingCommand>()
    /// Backlog to release at the next call of the mailbox.
    private var released = 0
    private var nextExpiry: Instant?

    /// Called when the server becomes silent, after each further ``silence``, and when it answers again.
    private let noteSilence: (@Sendable (_ isSilent: Bool) -> Void)?
    /// When the session looks whether the server is silent; `nil` while no request waits.
    private var nextLook: Instant?
    private var hasHeard = false
    private var isSilent = false

    /// A server is silent when requests wait and no reply has come between two looks.
    static let silence = Duration.milliseconds(500)

    /// With this many unwritten bytes, no further command is appended.
    private static let outputHighWater = 256 << 10

    init(_ mailbox: Mailbox<Request>, address: RedisAddress, noteSilence: (@Sendable (_ isSilent: Bool) -> Void)? = nil) {
        self.mailbox = mailbox
        self.address = address
        self.noteSilence = noteSilence
    }

    var isIdle: Bool { pending.isEmpty }

    var nextDeadline: Instant? {
        guard let nextExpiry, let nextLook else { return nextExpiry ?? nextLook }
        return min(nextExpiry, nextLook)
    }

    func takeMessages() -> Bool {
        arrived.removeAll(keepingCapacity: true)
        let isOpen = mailbox.take(into: &arrived, releasing: released)
        released = 0
        for request in arrived {
            unsent.append(request)
            note(request.deadline)
        }
        return isOpen
    }

    func maySleep() -> Bool { mailbox.mayOwnerSleep() }
    func woke() { mailbox.ownerWoke() }
    func began(now: Instant) {}

    func collect(into output: inout OutputQueue) {
        while output.pendingBytes < Self.outputHighWater, let request = unsent.popFirst() {
            released += request.weight
            guard request.beginSending() else { continue }
            pending.append(PendingCommand(request, start: output.appended))
            switch request.payload {
            case .one(let command): output.append(command)
            case .many(let commands): for command in commands { output.append(command) }
            }
        }
    }

    func receive(_ reply: RedisReply, output: inout OutputQueue) -> SessionVerdict {
        guard let current = pending.first else { return .unasked }
        hasHeard = true
        var verdict = SessionVerdict.goOn
        if case .error(let error) = reply {
            if error.kind == .noScript, !current.hasSource, let command = current.command.withSource {
                pending.append(PendingCommand(retrying: current, start: output.appended))
                output.append(command)
            } else {
                if error.kind == .readOnly { verdict = .readOnly }
                current.deliver(.failure(error.naming(commandIn: current.command.script)))
            }
        } else {
            current.deliver(.success(reply))
        }
        if current.index + 1 == current.end {
            _ = pending.popFirst()
        } else {
            pending.modifyFirst { $0.index += 1 }
        }
        return verdict
    }

    func expire(now: Instant, whileDisconnectedBecause reason: RedisError?) -> RedisError? {
        lookForSilence(now)
        guard let due = nextExpiry, now >= due else { return nil }
        // All later commands wait for the first one, so the connection is closed.
        if let head = pending.first, head.request.deadline <= now { return RedisError(.commandTimeout) }

        nextExpiry = nil
        expireUnsent(now, reason)
        pending.visit { command in
            if command.request.deadline <= now {
                command.abandon(RedisError(.commandTimeout, "earlier commands are slow", mayHaveExecuted: true).at(address))
            } else {
                note(command.request.deadline)
            }
        }
        return nil
    }

    func lost(_ error: RedisError, written: Int) {
        var unstarted: [Request] = []
        for command in pending.removeAll() {
            let isStarted = command.start < written
            if !isStarted, command.isRepeatable {
                released -= command.request.weight
                unstarted.append(command.request)
            } else {
                var error = error
                error.mayHaveExecuted = isStarted
                command.abandon(error)
            }
        }
        unsent.prepend(unstarted)
    }

    func stop(_ error: RedisError, written: Int) {
        // The mailbox refuses later requests.
        mailbox.close()
        _ = takeMessages()
        lost(error, written: written)
        for request in unsent.removeAll() { request.fail(error) }
    }

    private func expireUnsent(_ now: Instant, _ reason: RedisError?) {
        let error = reason.map(RedisError.init(unavailableBecause:)) ?? RedisError(.commandTimeout, "it takes no further commands")
        unsent.filter { request in
            if request.deadline > now, !request.isFinished { return true }
            released += request.weight
            request.fail(error.at(address))
            return false
        }
        unsent.visit { note($0.deadline) }
    }

    private func note(_ deadline: Instant) {
        if nextExpiry.map({ deadline < $0 }) ?? true { nextExpiry = deadline }
    }

    /// Looks now and then, because the time of each reply would cost more than the replies.
    private func lookForSilence(_ now: Instant) {
        guard let noteSilence else { return }
        let isWaiting = !pending.isEmpty || !unsent.isEmpty
        guard let look = nextLook else {
            (nextLook, hasHeard) = (isWaiting ? now + Self.silence : nil, false)
            return
        }
        if now < look { return }
        let wasSilent = isSilent
        isSilent = isWaiting && !hasHeard
        (nextLook, hasHeard) = (isWaiting ? now + Self.silence : nil, false)
        if isSilent || wasSilent { noteSilence(isSilent) }
    }
}
