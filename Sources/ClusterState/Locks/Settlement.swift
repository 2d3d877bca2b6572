internal import GannetBasics
internal import RedisClient

/// The end of a job, or of a lock without a job.
package struct Settlement: Sendable {
    package enum Outcome: Sendable {
        case fetched(PageContent, Retention)
        /// The origin said that the answer from before still holds.
        case revalidated(PageContent, Retention)
        /// For good: its followers fail with it, and nobody tries again while this is kept.
        case failed(PageContent, Retention)
        /// Another attempt after a pause, charged to the job.
        case retry(after: Duration)
        /// Another attempt, uncharged, when the host's cool-down is over: of this length, or of one that doubles from time to time.
        case throttled(for: Duration?)
        /// Another attempt, uncharged: a host that a redirect led to had no room.
        case putOff(for: Duration)
        /// Given up without a charge: the job is the first to be claimed again, the URL is free.
        case handedBack
        /// The body of a job whose outcome was there is where it belongs.
        case delivered
        /// There was no such body: the outcome counts for nothing, and the URL has to be fetched.
        case bodyMissing(digest: [UInt8])
    }

    /// What the attempt has shown of its host.
    package enum HostNews: Sendable {
        case none, answered, unreachable
    }

    /// More in one call would let others wait.
    package static let mostAtOnce = ClaimRequest.mostJobs

    package var token: FlightToken
    package var id: URLID
    package var outcome: Outcome
    package var host: HostNews
    package var bytes: Int

    package init(_ token: FlightToken, _ id: URLID, _ outcome: Outcome, host: HostNews = .none, bytes: Int = 0) {
        self.token = token
        self.id = id
        self.outcome = outcome
        self.host = host
        self.bytes = bytes
    }
}

/// For how long an outcome is of use.
package struct Retention: Sendable {
    /// Nobody asks again while it is fresh.
    package var fresh: Duration

    /// Forgotten after this, fresh or not.
    package var keep: Duration

    /// False for an answer that may not be kept: only callers that asked before it came may use it, and `keep` is how long they have.
    package var isStored: Bool

    package init(fresh: Duration, keep: Duration, isStored: Bool = true) {
        self.fresh = fresh
        self.keep = keep
        self.isStored = isStored
    }
}

/// The answer to a settlement.
package enum SettleAnswer: Int, Sendable {
    /// The lease had ended; nothing has changed.
    case lost
    case settled
    /// The lease had ended, and another worker fetched the URL as well: that worker's outcome stands.
    case fenced
}

extension Settlement {
    private enum Form {
        static let fetched = 1, revalidated = 2, failed = 3, retry = 4, throttled = 5, handedBack = 6, delivered = 7, missing = 8,
            putOff = 9
        static let hostUnreachable = 1, hostUnknown = 2, notStored = 4
    }

    /// As `settle.lua` takes it.
    func append(to arguments: inout [RedisArgument]) {
        var content: [UInt8] = []
        var retention = Retention(fresh: .zero, keep: .zero)
        var pause = 0
        let form: Int
        switch outcome {
        case .fetched(let page, let kept): (form, content, retention) = (Form.fetched, page.bytes, kept)
        case .revalidated(let page, let kept): (form, content, retention) = (Form.revalidated, page.bytes, kept)
        case .failed(let page, let kept): (form, content, retention) = (Form.failed, page.bytes, kept)
        case .retry(let after): (form, pause) = (Form.retry, Self.milliseconds(after))
        case .throttled(let length): (form, pause) = (Form.throttled, length.map { Self.milliseconds($0) + 1 } ?? 0)
        case .putOff(let length): (form, pause) = (Form.putOff, Self.milliseconds(length))
        case .handedBack: form = Form.handedBack
        case .delivered: form = Form.delivered
        case .bodyMissing(let digest): (form, content) = (Form.missing, digest)
        }
        var marks = retention.isStored ? 0 : Form.notStored
        switch host {
        case .none: marks |= Form.hostUnknown
        case .unreachable: marks |= Form.hostUnreachable
        case .answered: break
        }
        var packed: [UInt8] = []
        packed.append(number: form, count: 1)
        packed.append(number: marks, count: 1)
        packed.append(number: max(1, Self.milliseconds(retention.keep)), count: 6)
        packed.append(number: Self.milliseconds(retention.fresh), count: 6)
        packed.append(number: pause, count: 6)
        packed.append(number: bytes, count: 6)
        arguments += [.bytes(token.bytes), .bytes(id.bytes), .bytes(packed), .bytes(content)]
    }

    /// Nothing is put off, or kept, for longer than a year.
    private static func milliseconds(_ duration: Duration) -> Int {
        max(0, min(duration, .seconds(365 * 24 * 3600)).wholeMilliseconds)
    }
}
