internal import GannetBase

/// The outcome of a URL's fetch, as Redis keeps it.
package struct URLOutcome: Sendable, Equatable {
    /// The token of the fetch that ended with this outcome.
    package let token: LockToken

    /// When the fetch began and ended, and until when its outcome is fresh, in queue time, ms.
    package let began: Int
    package let ended: Int
    package let freshUntil: Int

    /// The URL could not be fetched, and is not tried again while this outcome is fresh.
    package let isNegative: Bool

    /// False for an answer that may not be kept: it is only for callers that asked before it came.
    package let isStored: Bool
    package let content: OutcomeContent

    private static let version = 1
    private enum Flags {
        static let negative = 1
        static let notStored = 2
    }

    /// Reads an outcome, as `Scripts/Parts/locks.lua` describes it; `nil` for bytes that are no outcome.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.number(1) == Self.version, let flags = reader.number(1),
            let token = reader.bytes(LockToken.count).flatMap({ LockToken($0) }),
            let ended = reader.number(6), let took = reader.number(4), let fresh = reader.number(4),
            let content = OutcomeContent(reader.all())
        else { return nil }
        self.token = token
        self.began = ended - took
        self.ended = ended
        self.freshUntil = ended + fresh * 1000
        self.isNegative = flags & Flags.negative != 0
        self.isStored = flags & Flags.notStored == 0
        self.content = content
    }
}

extension URLOutcome {
    /// Why the URL could not be fetched.
    package struct Failure: Sendable, Equatable {
        package let kind: String
        package let sentence: String
    }

    package var failure: Failure? {
        guard isNegative else { return nil }
        return Failure(kind: content.fields[.errorClass] ?? "unknown", sentence: content.failureSentence)
    }

    /// The failure, while it keeps the URL from being fetched; `nil` for any other outcome.
    package func remembered(at now: Int) -> RememberedFailure? {
        guard isNegative, isStored, freshFor(at: now) > .zero else { return nil }
        return RememberedFailure(age: age(at: now), remaining: freshFor(at: now))
    }

    package func age(at now: Int) -> Duration { .milliseconds(max(0, now - ended)) }

    /// How long the outcome is still fresh; zero or less when the origin would be asked again.
    package func freshFor(at now: Int) -> Duration { .milliseconds(freshUntil - now) }
}

/// The failure of an earlier fetch, for which a URL is not fetched now.
package struct RememberedFailure: Sendable, Equatable {
    /// The time since the URL failed.
    package let age: Duration

    /// The time until the next job for the URL makes a request again.
    package let remaining: Duration
}
