internal import RedisClient

/// How a flight ends.
package struct Settlement: Sendable {
    package enum Outcome: Sendable {
        case fetched(PageContent, Retention)
        /// As fetched before: the origin said so.
        case revalidated(PageContent, Retention)
        /// For good; its followers fail with it, and nobody tries again while this is kept.
        case failed(PageContent, Retention)
        /// Another attempt after a pause, charged to the job.
        case retry(after: Duration)
        /// Another attempt, uncharged, when the host's cool-down is over: of this length, or of one that doubles from time to time.
        case throttled(for: Duration?)
        /// Given up without prejudice; the job is the first to be claimed again, the URL free.
        case handedBack
        /// The body of a job whose page was there is where it belongs.
        case delivered
        /// There was no such body: the page is none, and the URL has to be fetched.
        case bodyMissing(digest: [UInt8])
    }

    /// What the flight has shown of its host.
    package enum HostNews: Sendable {
        case none, answered, unreachable
    }

    /// Ended in one call: nobody else waits long for it.
    package static let mostAtOnce = 500

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

    /// Not for an answer that may not be kept: it is for those who asked before it came, and they may have to wait as long as `keep`.
    package var isStored: Bool

    package init(fresh: Duration, keep: Duration, isStored: Bool = true) {
        self.fresh = fresh
        self.keep = keep
        self.isStored = isStored
    }
}

/// What became of a settlement.
package enum SettleAnswer: Int, Sendable {
    /// The lease had ended; nothing has changed.
    case lost
    case settled
    /// The lease had ended, and another fetched the URL as well: what it has written stands.
    case fenced
}

extension Settlement {
    func append(to arguments: inout [RedisArgument]) {
        var content: [UInt8] = []
        var retention = Retention(fresh: .zero, keep: .zero)
        var pause = 0
        let name: String
        switch outcome {
        case .fetched(let page, let kept): (name, content, retention) = ("fetched", page.bytes, kept)
        case .revalidated(let page, let kept): (name, content, retention) = ("revalidated", page.bytes, kept)
        case .failed(let page, let kept): (name, content, retention) = ("failed", page.bytes, kept)
        case .retry(let after): (name, pause) = ("retry", min(after, Self.longestPause).wholeMilliseconds)
        case .throttled(let length): (name, pause) = ("throttled", length.map { min($0, Self.longestPause).wholeMilliseconds } ?? -1)
        case .handedBack: name = "back"
        case .delivered: name = "cached"
        case .bodyMissing(let digest): (name, content) = ("missing", digest)
        }
        var marks = retention.isStored ? "" : "n"
        switch host {
        case .none: marks += "o"
        case .unreachable: marks += "h"
        case .answered: break
        }
        arguments += [
            .bytes(token.bytes), .bytes(id.bytes), .string(name), .bytes(content),
            .integer(max(1, min(retention.keep, Self.longestPause).wholeMilliseconds)),
            .integer(min(retention.fresh, Self.longestPause).wholeMilliseconds), .integer(pause), .integer(max(0, bytes)), .string(marks),
        ]
    }

    /// Nothing is put off, or kept, for longer than a year.
    private static let longestPause = Duration.seconds(365 * 24 * 3600)
}
