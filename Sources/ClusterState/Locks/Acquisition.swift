internal import RedisClient

/// A caller without a job asks for a URL's outcome, or for its lock.
package struct AcquireRequest: Sendable {
    package var id: URLID

    /// The same in all calls of one caller: the lock it holds already is its own.
    package var nonce: Nonce
    package var lease: Duration

    /// The channel on which the caller's process hears that the URL is free again; it must listen before it asks.
    package var inbox: String?

    /// Only an outcome whose fetch began after the first call will do.
    package var refresh = false

    /// In a repeated call: the queue time of the first call, from its answer. An outcome that came since is this caller's too, also
    /// where it may not be kept.
    package var since: Int?

    /// How old an outcome may be; without it, as long as the outcome itself says.
    package var maximumAge: Duration?

    /// The digest of a body that an outcome promised and that was not there: that outcome counts for nothing.
    package var missingBody: [UInt8]?

    package init(id: URLID, nonce: Nonce, lease: Duration) {
        self.id = id
        self.nonce = nonce
        self.lease = lease
    }
}

/// The answer to a caller without a job, and its queue time.
package struct AcquireAnswer: Sendable, Equatable {
    package enum Fate: Sendable, Equatable {
        case fresh(Page)
        case negative(Page)
        /// The caller fetches, and may use the stale outcome where that fails.
        case leased(FlightToken, stale: Page?)
        /// Somebody fetches it; its lock ends by then at the latest, unless it is renewed.
        case busy(atMost: Duration)
    }

    package let fate: Fate
    package let now: Int
}

extension AcquireAnswer {
    init(_ reply: RedisReply) throws {
        let fields = try reply.asArray()
        guard fields.count >= 2 else { throw RedisError.form(of: "acquire") }
        now = try fields[1].asInteger()
        switch (try fields[0].asString(), fields.count) {
        case ("busy", 3): fate = .busy(atMost: .milliseconds(try fields[2].asInteger()))
        case ("leased", 4): fate = .leased(FlightToken(try fields[2].asBytes()), stale: Page(try fields[3].asBytes()))
        case ("fresh", 3): fate = .fresh(try Self.page(fields[2]))
        case ("negative", 3): fate = .negative(try Self.page(fields[2]))
        case ("fresh", _), ("negative", _), ("newer", _): throw StateError.newerFormat("The page of this URL")
        default: throw RedisError.form(of: "acquire")
        }
    }

    private static func page(_ field: RedisReply) throws -> Page {
        guard let page = Page(try field.asBytes()) else { throw StateError.newerFormat("The page of this URL") }
        return page
    }
}
