internal import GannetBase
internal import GannetRedisClient

/// The end of a job, or of a lock without a job.
package struct Settlement: Sendable {
    package enum Outcome: Sendable {
        case fetched(OutcomeContent, Retention)
        /// The origin said that the earlier answer still holds.
        case revalidated(OutcomeContent, Retention)
        /// The fetch failed for good. Jobs that wait for the URL fail too, and nobody tries it again while this outcome is fresh.
        case failed(OutcomeContent, Retention)
        /// The attempt failed and is charged to the URL. Another attempt follows after a pause.
        case retry(OutcomeContent, after: Duration)
        /// Another attempt follows after a cool-down of the host, uncharged. Without a length the cool-down doubles from time to time.
        case throttled(OutcomeContent, for: Duration?)
        /// Another attempt follows, uncharged, because a host that a redirect led to had no room, or the worker has no network.
        case putOff(OutcomeContent, for: Duration)
        /// The holder gives the URL back, uncharged. The URL is free, and its job is the first to be claimed again.
        case handedBack
        /// The job's outcome was known, and the body has been delivered.
        case delivered
        /// The job's outcome was known, but its body is missing. The outcome no longer counts, and the URL has to be fetched.
        case bodyMissing(digest: [UInt8])
        /// A request has left its place, and its URL stays locked. Callers without a job and jobs at hosts of another partition have places
        /// apart from the lock. A job whose body waits to be stored leaves its place as well.
        case leftPlace
        /// The same, and the host asked for a rest. Without a length the rest doubles from time to time.
        case leftPlaceToRest(Duration?)
        /// The host has answered a request that the job made before that for its URL. The job keeps its place and goes on.
        case hostAnswered

        /// False for news of a job that goes on.
        package var endsJob: Bool {
            switch self {
            case .leftPlace, .leftPlaceToRest, .hostAnswered: false
            case .fetched, .revalidated, .failed, .retry, .throttled, .putOff, .handedBack, .delivered, .bodyMissing: true
            }
        }
    }

    /// Whether the host answered in the attempt.
    package enum HostNews: Sendable {
        /// The attempt says nothing of the host.
        case none
        case answered
        /// There was no name, no connection, or no answer in time.
        case silent
    }

    package var token: LockToken
    package var id: URLID
    package var outcome: Outcome
    package var host: HostNews
    /// The size of the body that was fetched.
    package var bytesFetched: Int

    /// The job's outcome was known, so it held no lock.
    package var isDelivery: Bool

    package init(
        _ token: LockToken, _ id: URLID, _ outcome: Outcome, host: HostNews = .none, bytesFetched: Int = 0, isDelivery: Bool = false
    ) {
        self.token = token
        self.id = id
        self.outcome = outcome
        self.host = host
        self.bytesFetched = bytesFetched
        self.isDelivery = isDelivery
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
package enum Verdict: UInt8, Sendable {
    /// The lock is not the sender's; nothing has changed.
    case lost
    case settled
    /// Another worker fetched the URL as well: that worker's outcome stands.
    case fenced
    /// The settlement could not be read or carried out; nothing has changed.
    case malformed
}

extension Settlement {
    private enum Form {
        static let fetched = 1, revalidated = 2, failed = 3, retry = 4, throttled = 5, handedBack = 6, delivered = 7, missing = 8,
            putOff = 9, leftPlace = 10, hostAnswered = 11
        static let hostSilent = 1, hostUnknown = 2, notStored = 4, delivery = 8
    }

    /// The bytes that `Exchange/settle.lua` reads.
    var bytes: [UInt8] {
        var content: [UInt8] = []
        var retention = Retention(fresh: .zero, keep: .milliseconds(1))
        var pause = 0
        let form: Int
        switch outcome {
        case .fetched(let outcome, let kept): (form, content, retention) = (Form.fetched, outcome.bytes, kept)
        case .revalidated(let outcome, let kept): (form, content, retention) = (Form.revalidated, outcome.bytes, kept)
        case .failed(let outcome, let kept): (form, content, retention) = (Form.failed, outcome.bytes, kept)
        case .retry(let failure, let after): (form, content, pause) = (Form.retry, failure.bytes, Self.milliseconds(after))
        case .throttled(let failure, let length):
            (form, content, pause) = (Form.throttled, failure.bytes, length.map { Self.milliseconds($0) + 1 } ?? 0)
        case .putOff(let failure, let length): (form, content, pause) = (Form.putOff, failure.bytes, Self.milliseconds(length))
        case .handedBack: form = Form.handedBack
        case .delivered: form = Form.delivered
        case .bodyMissing(let digest): (form, content) = (Form.missing, digest)
        case .leftPlace: form = Form.leftPlace
        case .hostAnswered: form = Form.hostAnswered
        case .leftPlaceToRest(let length): (form, pause) = (Form.leftPlace, length.map { Self.milliseconds($0) + 2 } ?? 1)
        }
        var marks = (retention.isStored ? 0 : Form.notStored) | (isDelivery ? Form.delivery : 0)
        switch host {
        case .none: marks |= Form.hostUnknown
        case .silent: marks |= Form.hostSilent
        case .answered: break
        }
        var packed: [UInt8] = []
        packed.reserveCapacity(58 + content.count)
        token.append(to: &packed)
        id.append(to: &packed)
        packed.append(number: form, count: 1)
        packed.append(number: marks, count: 1)
        packed.append(number: max(1, Self.milliseconds(retention.keep)), count: 6)
        packed.append(number: Self.milliseconds(retention.fresh), count: 6)
        packed.append(number: pause, count: 6)
        packed.append(number: bytesFetched, count: 6)
        packed.append(contentsOf: content)
        return packed
    }

    /// Gives up a job whose URL is not valid UTF-8.
    static func unreadable(_ token: LockToken, _ id: URLID, isDelivery: Bool) -> Settlement {
        var content = OutcomeContent(url: "")
        content.fields = [.errorClass: ExchangeRequest.unreadableClass, .errorMessage: "The job's URL is no text."]
        let retention = Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)
        return Settlement(token, id, .failed(content, retention), isDelivery: isDelivery)
    }

    /// No job is put off, and no outcome is kept, for longer than a year.
    private static func milliseconds(_ duration: Duration) -> Int {
        max(0, min(duration, .seconds(365 * 24 * 3600)).wholeMilliseconds)
    }
}
