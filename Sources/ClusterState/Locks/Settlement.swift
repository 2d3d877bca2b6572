internal import GannetBasics
internal import RedisClient

/// The end of a job, or of a lock without a job.
package struct Settlement: Sendable {
    package enum Outcome: Sendable {
        case fetched(OutcomeContent, Retention)
        /// The origin said that the earlier answer still holds.
        case revalidated(OutcomeContent, Retention)
        /// The fetch failed for good. Jobs that wait for the URL fail too, and nobody tries it again while this outcome is fresh.
        case failed(OutcomeContent, Retention)
        /// The attempt failed and is charged to the job. Another attempt follows after a pause.
        case retry(after: Duration)
        /// Another attempt follows after a cool-down of the host, uncharged. Without a length the cool-down doubles from time to time.
        case throttled(for: Duration?)
        /// Another attempt follows, uncharged, because a host that a redirect led to had no room.
        case putOff(for: Duration)
        /// The holder gives the URL back, uncharged. The URL is free, and its job is the first to be claimed again.
        case handedBack
        /// The job's outcome was known, and the body has been delivered.
        case delivered
        /// The job's outcome was known, but its body is missing. The outcome no longer counts, and the URL has to be fetched.
        case bodyMissing(digest: [UInt8])
    }

    /// Whether the host answered in the attempt.
    package enum HostNews: Sendable {
        case none, answered, unreachable
    }

    /// A call with more settlements would make other callers of Redis wait.
    package static let mostAtOnce = ClaimRequest.mostJobs

    package var token: LockToken
    package var id: URLID
    package var outcome: Outcome
    package var host: HostNews
    package var bytes: Int

    package init(_ token: LockToken, _ id: URLID, _ outcome: Outcome, host: HostNews = .none, bytes: Int = 0) {
        self.token = token
        self.id = id
        self.outcome = outcome
        self.host = host
        self.bytes = bytes
    }
}

/// How long an outcome is fresh, and how long Redis keeps it.
package struct Retention: Sendable {
    /// The origin is not asked again while the outcome is fresh.
    package var fresh: Duration

    /// Redis deletes the outcome after this time, fresh or not.
    package var keep: Duration

    /// False for an answer that may not be kept. Only callers that asked before the answer came may use it, and they have `keep` to do so.
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

    /// Appends the settlement in the form that `settle.lua` reads.
    func append(to arguments: inout [RedisArgument]) {
        var content: [UInt8] = []
        var retention = Retention(fresh: .zero, keep: .zero)
        var pause = 0
        let form: Int
        switch outcome {
        case .fetched(let outcome, let kept): (form, content, retention) = (Form.fetched, outcome.bytes, kept)
        case .revalidated(let outcome, let kept): (form, content, retention) = (Form.revalidated, outcome.bytes, kept)
        case .failed(let outcome, let kept): (form, content, retention) = (Form.failed, outcome.bytes, kept)
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

    /// No job is put off, and no outcome is kept, for longer than a year.
    private static func milliseconds(_ duration: Duration) -> Int {
        max(0, min(duration, .seconds(365 * 24 * 3600)).wholeMilliseconds)
    }
}
