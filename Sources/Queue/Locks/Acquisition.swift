package import GannetRedisClient

/// A request of a caller without a job, for a URL's outcome or for its lock.
package struct AcquireRequest: Sendable {
    package var id: URLID

    /// The host of the URL. It decides the partition.
    package var host: String
    package var incarnation: Incarnation

    /// The same in all calls of one caller, so that a lock that the caller holds already is answered as its own.
    package var nonce: UInt64
    package var lease: Duration

    /// For how long the request may hold its URL, whatever the lease of its holder.
    package var longestHold = Duration.seconds(3600)

    /// The name of the caller's process, which hears that the URL is free again. It must listen on its inboxes before it asks.
    package var inbox: String?

    /// Accepts only an outcome whose fetch began after the caller's first call.
    package var refresh = false

    /// In a repeated call, the queue time that the first call answered. An outcome that came since then is for this caller too, even one
    /// that may not be kept.
    package var since: Int?

    /// How old an outcome may be. `nil` accepts an outcome while it is fresh.
    package var maximumAge: Duration?

    /// The digest of a body that an outcome named and that was missing. The caller is answered as if there were no such outcome.
    package var missingBody: [UInt8]?

    package init(id: URLID, host: String, incarnation: Incarnation, nonce: UInt64, lease: Duration) {
        self.id = id
        self.host = host
        self.incarnation = incarnation
        self.nonce = nonce
        self.lease = lease
    }
}

/// The answer to a caller without a job, and its queue time.
package struct AcquireAnswer: Sendable, Equatable {
    package enum Fate: Sendable, Equatable {
        case fresh(URLOutcome)
        case negative(URLOutcome)
        /// The caller fetches the URL, and may use the stale outcome where the fetch fails.
        case leased(LockToken, stale: URLOutcome?)
        /// Somebody else holds the lock. The caller asks again after this time at the latest: leases end only while somebody calls.
        case busy(atMost: Duration)
        /// The URL failed, and a job's next attempt is to come.
        case waits(lastFailure: OutcomeContent)
        /// The lease of the incarnation has ended. A new incarnation has to ask.
        case ended
    }

    package let fate: Fate
    package let now: Int
}

extension AcquireAnswer {
    package init(_ reply: RedisReply) throws {
        let fields = try reply.asArray()
        guard let status = try fields.first?.asString() else { throw RedisError.form(of: "acquire") }
        now = fields.count > 1 ? try fields[1].asNumber() : 0
        switch (status, fields.count) {
        case ("ended", 1): fate = .ended
        case ("waits", 3):
            guard let failure = OutcomeContent(try fields[2].asBytes()[...]) else { throw RedisError.form(of: "acquire") }
            fate = .waits(lastFailure: failure)
        case ("busy", 3): fate = .busy(atMost: .milliseconds(try fields[2].asInteger()))
        case ("leased", 4):
            guard let token = LockToken(try fields[2].asBytes()) else { throw RedisError.form(of: "acquire") }
            fate = .leased(token, stale: URLOutcome(try fields[3].asBytes()))
        case ("fresh", 3): fate = .fresh(try Self.outcome(fields[2]))
        case ("negative", 3): fate = .negative(try Self.outcome(fields[2]))
        default: throw RedisError.form(of: "acquire")
        }
    }

    private static func outcome(_ field: RedisReply) throws -> URLOutcome {
        guard let outcome = URLOutcome(try field.asBytes()) else { throw RedisError.form(of: "acquire") }
        return outcome
    }
}
