/// An answer of a name server. It may be forged, so every offset and count in it is checked.
package struct DNSMessage {
    private struct Record {
        let owner: [UInt8]
        let type: UInt16
        let ttl: UInt32
        let data: Range<Int>
    }

    /// More records than this in an answer are not read.
    private static let maximumRecords = 4096
    private static let maximumAliases = 16

    private let bytes: UnsafeRawBufferPointer

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The answer to a question for a name's addresses.
    package static func reply(in bytes: UnsafeRawBufferPointer, type: DNSRecordType) -> QueryOutcome {
        DNSMessage(bytes).reply(type) ?? .trouble(.nonsense)
    }

    // All of the following answer nil where the message is malformed.

    private func reply(_ type: DNSRecordType) -> QueryOutcome? {
        guard bytes.count >= 12, bytes[2] & 0x80 != 0 else { return nil }
        if bytes[2] & 0x02 != 0 { return .truncated }
        switch bytes[3] & 0x0f {
        case 0, 3: break
        case 1: return .trouble(.formatError)
        case 2: return .trouble(.serverFailure)
        case 4: return .trouble(.notImplemented)
        case 5: return .trouble(.refused)
        default: return .trouble(.other)
        }
        guard number16(at: 4) == 1, let (name, end) = self.name(at: 12) else { return nil }
        var offset = end + 4
        guard let answers = records(number16(at: 6), from: &offset), let found = addresses(of: name, type, in: answers) else { return nil }
        if !found.addresses.isEmpty { return .addresses(found.addresses, ttl: found.ttl) }
        // A malformed authority section does not make a clear "no" unclear.
        let soa = records(number16(at: 8), from: &offset)?.first { $0.type == 6 }
        let ttl = soa.flatMap { soa in soa.data.count >= 22 ? number32(at: soa.data.upperBound - 4).map { min($0, soa.ttl) } : nil }
        return bytes[3] & 0x0f == 3 ? .noSuchName(ttl: ttl) : .noData(ttl: ttl)
    }

    /// The addresses at the end of the chain of aliases that begins with the name, perhaps none.
    private func addresses(of name: [UInt8], _ type: DNSRecordType, in records: [Record]) -> (addresses: [IPAddress], ttl: UInt32)? {
        var name = name
        var ttl = UInt32.max
        for _ in 0...Self.maximumAliases {
            var found: [IPAddress] = []
            var alias: [UInt8]?
            for record in records where record.owner == name {
                if record.type == type.rawValue, let address = address(in: record.data, type) {
                    ttl = min(ttl, record.ttl)
                    if found.count < ResolverOptions.maximumAddresses, !found.contains(address) { found.append(address) }
                } else if record.type == 5, alias == nil {
                    ttl = min(ttl, record.ttl)
                    alias = self.name(at: record.data.lowerBound)?.name
                    if alias == nil { return nil }
                }
            }
            guard found.isEmpty, let alias else { return (found, ttl) }
            name = alias
        }
        return nil
    }

    private func address(in data: Range<Int>, _ type: DNSRecordType) -> IPAddress? {
        switch (type, data.count) {
        case (.a, 4): .v4(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: data.lowerBound, as: UInt32.self)))
        case (.aaaa, 16): .v6(UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: data.lowerBound, as: UInt128.self)))
        default: nil
        }
    }

    private func records(_ count: UInt16?, from offset: inout Int) -> [Record]? {
        guard let count, count <= Self.maximumRecords else { return nil }
        var records: [Record] = []
        for _ in 0..<count {
            guard let (owner, end) = name(at: offset), let type = number16(at: end), let ttl = number32(at: end + 4),
                let length = number16(at: end + 8)
            else { return nil }
            let data = (end + 10)..<(end + 10 + Int(length))
            guard data.upperBound <= bytes.count else { return nil }
            // A lifetime with its highest bit set counts as none (RFC 2181, 8).
            records.append(Record(owner: owner, type: type, ttl: ttl > Int32.max ? 0 : ttl, data: data))
            offset = data.upperBound
        }
        return records
    }

    /// The name at the offset, in lower case as in a message without compression, and where its place in the message ends.
    private func name(at start: Int) -> (name: [UInt8], end: Int)? {
        var name: [UInt8] = []
        var offset = start
        var end: Int?
        while true {
            guard offset < bytes.count else { return nil }
            let length = Int(bytes[offset])
            switch length {
            case 0:
                return (name, end ?? offset + 1)
            case 1...63:
                guard offset + 1 + length <= bytes.count, name.count + 1 + length <= 254 else { return nil }
                name.append(UInt8(length))
                name += bytes[(offset + 1)...(offset + length)].lazy.map(\.lowercased)
                offset += 1 + length
            case 0xc0...:
                // Only backwards, so that there is an end.
                guard let target = number16(at: offset).map({ Int($0) & 0x3fff }), target < offset else { return nil }
                end = end ?? offset + 2
                offset = target
            default:
                return nil
            }
        }
    }

    private func number16(at offset: Int) -> UInt16? {
        guard offset + 2 <= bytes.count else { return nil }
        return UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    private func number32(at offset: Int) -> UInt32? {
        guard offset + 4 <= bytes.count else { return nil }
        return UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

/// The type of record that a question asks for.
package enum DNSRecordType: UInt16, Sendable, Hashable {
    case a = 1
    case aaaa = 28
    /// The name servers of a name. Every name server knows those of the root.
    case ns = 2
}

/// The outcome of one query.
package enum QueryOutcome: Hashable {
    /// At least one address, and how many seconds they may be remembered.
    case addresses([IPAddress], ttl: UInt32)
    /// The name exists, and has no record of the type; for how many seconds that may be remembered, if the answer says so.
    case noData(ttl: UInt32?)
    case noSuchName(ttl: UInt32?)
    case trouble(Trouble)
    /// The answer does not fit in a datagram.
    case truncated
    /// No answer in the time the query had.
    case silence
    /// The query could not be sent, or no server listens there.
    case unreachable
    case outOfMemory

    /// A name server's reason not to answer a question.
    package enum Trouble: String, Sendable {
        case serverFailure = "SERVFAIL"
        case refused = "REFUSED"
        case formatError = "FORMERR"
        case notImplemented = "NOTIMP"
        /// An answer that breaks the rules, such as names that are aliases of each other.
        case nonsense = "a malformed answer"
        case other = "an unknown error"
    }
}
