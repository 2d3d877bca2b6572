/// A client's question to a `DNSServer`.
package struct DNSQuestion: Sendable, Hashable {
    /// The types the server knows by name.
    package enum RecordType: UInt16, Sendable, Hashable {
        case a = 1
        case ns = 2
        case cname = 5
        case soa = 6
        case aaaa = 28
        /// Any other.
        case other = 0
    }

    /// In lower case, without the dot at the end; empty for the root.
    package let name: String
    package let type: RecordType
    /// How often this name and type had been asked before, so that an answer may differ from look-up to look-up.
    package let previous: Int
    package let isOverTCP: Bool
    /// Whether the query says what size of datagram the client takes.
    package let hasEDNS: Bool
}

/// A query as it came in.
struct DNSQuery {
    let id: UInt16
    let name: String
    let type: DNSQuestion.RecordType
    /// Name, type and class, to be repeated in the answer.
    let question: ArraySlice<UInt8>
    /// The largest datagram the client takes.
    let sizeLimit: Int
    let hasEDNS: Bool

    /// Nil when the bytes are not a query with one question.
    init?(_ bytes: ArraySlice<UInt8>) {
        let start = bytes.startIndex
        guard bytes.count >= 17, bytes[start + 2] & 0x80 == 0, bytes[start + 4] == 0, bytes[start + 5] == 1 else { return nil }
        id = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
        var index = start + 12
        var text: [UInt8] = []
        text.reserveCapacity(64)
        while true {
            guard index < bytes.endIndex else { return nil }
            let length = Int(bytes[index])
            index += 1
            if length == 0 { break }
            guard length < 64, index + length < bytes.endIndex else { return nil }
            if !text.isEmpty { text.append(0x2e) }
            for byte in bytes[index..<index + length] { text.append(0x41...0x5a ~= byte ? byte | 0x20 : byte) }
            index += length
        }
        guard index + 4 <= bytes.endIndex else { return nil }
        name = String(decoding: text, as: UTF8.self)
        type = DNSQuestion.RecordType(rawValue: UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])) ?? .other
        index += 4
        question = bytes[(start + 12)..<index]
        // The only thing a client adds to a question is an OPT record: the root, type 41, and a size where others have a class.
        hasEDNS = index + 11 <= bytes.endIndex && bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 41
        sizeLimit = hasEDNS ? max(512, Int(bytes[index + 3]) << 8 | Int(bytes[index + 4])) : 512
    }
}
