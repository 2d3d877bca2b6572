package import GannetHTTP

/// A `DNSServer`'s reaction to a question.
package struct DNSReply: Sendable {
    /// The outcome that an answer's header states.
    package enum Code: UInt8, Sendable {
        case success = 0
        case formatError = 1
        case serverFailure = 2
        case nameError = 3
        case notImplemented = 4
        case refused = 5
    }

    /// A datagram that comes before the answer and must not be taken for it. Where it has an address, that is 6.6.6.6.
    package enum Decoy: Sendable {
        case wrongID, wrongQuestion, garbage, nothing
        /// Right in everything but the port it comes from.
        case fromElsewhere
    }

    package var code = Code.success
    /// Addresses of the asked type go into the answer.
    package var addresses: [IPAddress] = []
    /// Names in between: the asked name is an alias of the first, which is one of the second, and so on.
    package var aliases: [String] = []
    package var ttl: UInt32 = 60
    /// For how long the answer says that nothing may be remembered; nil leaves the statement out.
    package var negativeTTL: UInt32? = 60
    package var isSilent = false
    package var delay: Duration = .zero
    /// Says over UDP that the answer does not fit, whatever its size.
    package var isTruncated = false
    package var decoys: [Decoy] = []
    /// Whether a query with EDNS is answered with it.
    package var knowsEDNS = true
    /// The message to send after the id instead of one made of the above.
    package var raw: [UInt8]?

    package init(code: Code = .success, addresses: [IPAddress] = [], ttl: UInt32 = 60) {
        self.code = code
        self.addresses = addresses
        self.ttl = ttl
    }

    /// The addresses of a name, those of the asked type; none is the answer "no data".
    package static func addresses(_ texts: String..., ttl: UInt32 = 60) -> DNSReply {
        DNSReply(addresses: texts.compactMap { IPAddress($0) }, ttl: ttl)
    }

    package static let noData = DNSReply()
    package static let nameError = DNSReply(code: .nameError)
    package static let serverFailure = DNSReply(code: .serverFailure)
    package static let refused = DNSReply(code: .refused)
    package static let silence = noData.changed { $0.isSilent = true }

    /// A message as it stands, after the id of the query.
    package static func raw(_ message: [UInt8]) -> DNSReply { noData.changed { $0.raw = message } }

    package func delayed(_ delay: Duration) -> DNSReply { changed { $0.delay = delay } }
    package func through(_ aliases: String...) -> DNSReply { changed { $0.aliases = aliases } }
    package func after(_ decoys: Decoy...) -> DNSReply { changed { $0.decoys = decoys } }
    package func truncated() -> DNSReply { changed { $0.isTruncated = true } }
    package func withoutEDNS() -> DNSReply { changed { $0.knowsEDNS = false } }

    private func changed(_ change: (inout DNSReply) -> Void) -> DNSReply {
        var copy = self
        change(&copy)
        return copy
    }
}
