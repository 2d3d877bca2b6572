@testable import ClusterState

/// Callers without a job.
extension Model {
    func check(acquire call: AcquireCall, _ answer: AcquireAnswer, _ step: Step) throws(Violation) {
        let request = call.request
        var look = step.before
        var page = look.pages[call.url]
        let isMissing = page != nil && request.missingBody.map { Int($0[0]) == page!.digest } ?? false
        if isMissing { page = nil }
        let lock = look.locks[call.url].flatMap { step.before.isLive($0, lived: step.lived) ? $0 : nil }
        let isSatisfied =
            page.map {
                let (outcome, since) = (ModelOutcome($0), request.since ?? step.now + 1)
                // A failure stands for no longer than it says, whatever age the request allows.
                if outcome.isNegative, outcome.freshUntil <= step.now, outcome.ended < since { return false }
                return outcome.satisfies(
                    since: since, refresh: request.refresh, maximumAge: request.maximumAge?.wholeMilliseconds, now: step.now)
            } ?? false
        switch answer.fate {
        case .fresh(let given), .negative(let given):
            try Violation.require(isSatisfied, "the page does not satisfy")
            try Violation.equal(Token(given.token), page!.token, "whose page it is")
            try Violation.equal(given.isNegative, page!.isNegative, "whether the page is negative")
        case .busy(let atMost):
            guard !isSatisfied, let lock, lock.nonce != request.nonce.number else {
                throw Violation(description: "busy, and nobody else has the lock")
            }
            try Violation.equal(atMost, .milliseconds(look.flights[lock]!.ends - step.lived), "when the lock ends")
            if request.inbox != nil { look.waiters[call.url, default: []].insert(100 + call.caller) }
        case .leased(let token, let stale):
            try Violation.require(!isSatisfied, "leased, and the page satisfies")
            let usable = page.flatMap { $0.isStored && !$0.isNegative ? $0.token : nil }
            try Violation.equal(stale.map { Token($0.token) }, usable, "whose stale page it is")
            if let lock {
                try Violation.require(Token(token) == lock && lock.nonce == request.nonce.number, "leased, and somebody else has the lock")
            } else {
                look.locks[call.url] = Token(token)
                look.flights[Token(token)] = FlightLook(
                    kind: .caller, began: step.now, ends: step.lived + request.lease.wholeMilliseconds, url: call.url)
                if isMissing { look.pages[call.url] = nil }
            }
        }
        try step.after.check(is: look, now: step.now)
    }
}

extension Nonce {
    var number: UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
