internal import GannetBase

/// A body that broke off and is to go on.
struct BrokenBody {
    /// The reason. The failure of the request for the rest says less, so this one is the transfer's.
    let failure: FetchError
    /// These headers ask for the rest.
    let request: [HeaderField]
    /// Of the answer whose body broke off.
    let headerLines: [UInt8]
}

extension Transfer {
    /// The request's headers besides the engine's own. A request for a rest asks for nothing else.
    var requestHeaders: [HeaderField] {
        guard let broken else { return headers }
        return headers.filter { !$0.asksForPartOrNews } + broken.request
    }

    var asksForPart: Bool { ticket.request.asksForPart || broken != nil }

    /// Whether the rest of the body is to be asked for after this failure. If so, the transfer is ready for that request.
    ///
    /// A request that keeps its exchange is left out: an archive has no record for two answers that are one body. An encoded body is left out
    /// too, because origins that encode on the way need not make the same bytes again.
    func asksForRest(after failure: FetchError) -> Bool {
        guard state.brokeOff(failure.kind), decoder == nil, wire == nil, !ticket.request.asksForPart else { return false }
        let beginning = BodyContinuation.Beginning(
            status: state.status, headers: responseHeaders, count: state.transferredBytes, total: state.announcedBytes)
        guard let request = continuation.request(after: beginning, now: Int64(time(nil))) else { return false }
        earlierPhases = phases
        pace.breaks(at: .now)
        guard timeLeft > .zero else { return false }
        broken = BrokenBody(failure: failure, request: request, headerLines: headerLines)
        state.asksForRest()
        restartsHop()
        return true
    }

    /// The outcome, in place of which a body that broke off has its own failure.
    func withoutRest(_ outcome: TransferTicket.Outcome) -> TransferTicket.Outcome {
        guard let broken, case .failure(let failure) = outcome, !failure.retry.isOfThisProcess else { return outcome }
        return .failure(broken.failure)
    }

    /// The head of the answer to the request for a rest has come.
    func takeRest(_ status: Int) -> BodyContinuation.Verdict {
        guard let broken else { return .isNone }
        var verdict = isWellFramed ? continuation.verdict(status: status, headers: responseHeaders) : .isNone
        // Readers of a growing body have its beginning, which cannot be taken back.
        if verdict == .beginsAnew, ticket.request.growing != nil { verdict = .isNone }
        switch verdict {
        case .isNone:
            // The failure of the body that broke off says more.
            state.stop = .failure(.truncated, "")
            return .isNone
        case .goesOn(let end, let total):
            headerLines = broken.headerLines
            guard state.goesOn(to: end, of: total) else { return .isNone }
        case .beginsAnew:
            body = nil
            state.beginsAnew()
            continuation.beginsAnew()
        }
        self.broken = nil
        return verdict
    }
}
