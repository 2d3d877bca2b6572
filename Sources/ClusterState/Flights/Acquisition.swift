internal import RedisClient

/// Eight random bytes that make a caller's or a claim's tokens differ from any other's.
package struct Nonce: Sendable, Hashable {
    let bytes: [UInt8]

    package init(_ number: UInt64) { bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

/// What a caller without a job asks for.
package struct AcquireRequest: Sendable {
    package var id: URLID

    /// The same in all calls of one caller: the lock it holds already is its own.
    package var nonce: Nonce
    package var lease: Duration

    /// The channel on which the caller's process hears that the URL is free again; it must listen before it asks.
    package var inbox: String?

    /// Only a page whose fetch began after the first call will do.
    package var refresh = false

    /// Queue time of the first call, from its answer, in those that follow: an outcome that came since is this caller's too, also one
    /// that may not be kept.
    package var since: Int?

    /// How old a page may be; without it, as long as the page itself says.
    package var maximumAge: Duration?

    /// The digest of a body that a page promised and that was not there: that page is none.
    package var missingBody: [UInt8]?

    package init(id: URLID, nonce: Nonce, lease: Duration) {
        self.id = id
        self.nonce = nonce
        self.lease = lease
    }
}

/// What a caller without a job is told, and when, in queue time.
package struct AcquireAnswer: Sendable, Equatable {
    package enum Fate: Sendable, Equatable {
        case fresh(Page)
        case negative(Page)
        /// The caller fetches, and may use what is stale where that fails.
        case leased(FlightToken, stale: Page?)
        /// Somebody fetches it; its lock ends by then at the latest, unless it is renewed.
        case busy(atMost: Duration)
    }

    package let fate: Fate
    package let now: Int
}

extension AcquireAnswer {
    /// An answer that is still to be checked for pages nobody here can read.
    struct Unchecked {
        let name: String
        let now: Int
        let items: [[UInt8]]
        let milliseconds: Int

        func checked() throws(StateError) -> AcquireAnswer {
            switch name {
            case "fresh", "negative":
                guard let page = items.first.flatMap({ Page($0) }) else { throw .newerFormat("The page of this URL") }
                return AcquireAnswer(fate: name == "fresh" ? .fresh(page) : .negative(page), now: now)
            case "leased" where items.count == 2:
                return AcquireAnswer(fate: .leased(FlightToken(items[0]), stale: Page(items[1])), now: now)
            case "busy": return AcquireAnswer(fate: .busy(atMost: .milliseconds(milliseconds)), now: now)
            case "newer": throw .newerFormat("The page of this URL")
            default: throw .unexpected("acquire")
            }
        }
    }
}

extension AcquireAnswer.Unchecked {
    init(_ reply: RedisReply) throws(RedisError) {
        let fields = try reply.asArray()
        guard fields.count >= 2 else { throw RedisError(.unexpectedReply, "acquire in another form than expected") }
        name = String(decoding: try fields[0].asBytes(), as: UTF8.self)
        now = try fields[1].asInteger()
        if name == "busy", fields.count == 3 {
            milliseconds = try fields[2].asInteger()
            items = []
        } else {
            milliseconds = 0
            var items: [[UInt8]] = []
            for field in fields.dropFirst(2) { items.append(try field.asBytes()) }
            self.items = items
        }
    }
}
