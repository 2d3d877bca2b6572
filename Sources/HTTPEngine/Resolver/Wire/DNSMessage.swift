/// An answer of a name server, which may be anybody's: every offset and count in it is doubted.
struct DNSMessage {
    private struct Record {
        let owner: [UInt8]
        let type: UInt16
        let ttl: UInt32
        let data: Range<Int>
    }

    private struct Malformed: Error {}

    /// More records than this in an answer are not read.
    private static let maximumRecords = 4096
    private static let maximumAliases = 16

    private let bytes: UnsafeRawBufferPointer

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// What the answer says about the addresses of the name it was asked for.
    static func reply(in bytes: UnsafeRawBufferPointer, type: DNSRecordType) -> QueryOutcome {
        do throws(Malformed) {
            return try DNSMessage(bytes).reply(type)
        } catch {
            return .trouble(.nonsense)
        }
    }

    private func reply(_ type: DNSRecordType) throws(Malformed) -> QueryOutcome {
        guard bytes.count >= 12, bytes[2] & 0x80 != 0 else { throw Malformed() }
        if bytes[2] & 0x02 != 0 { return .truncated }
        switch bytes[3] & 0x0f {
        case 0, 3: break
        case 1: return .trouble(.formatError)
        case 2: return .trouble(.serverFailure)
        case 4: return .trouble(.notImplemented)
        case 5: return .trouble(.refused)
        default: return .trouble(.other)
        }
        guard try number16(at: 4) == 1 else { throw Malformed() }
        let (name, end) = try self.name(at: 12)
        var offset = end + 4
        let answers = try records(try number16(at: 6), from: &offset)
        if let (addresses, ttl) = try addresses(of: name, type, in: answers) { return .addresses(addresses, ttl: ttl) }
        // A bad authority section does not make a clear "no" unclear.
        let soa = (try? records(number16(at: 8), from: &offset))?.first { $0.type == 6 }
        let ttl = soa.flatMap { soa in soa.data.count >= 22 ? (try? number32(at: soa.data.upperBound - 4)).map { min($0, soa.ttl) } : nil }
        return bytes[3] & 0x0f == 3 ? .noSuchName(ttl: ttl) : .noData(ttl: ttl)
    }

    /// The addresses at the end of the chain of aliases that begins with the name; nil when there are none.
    private func addresses(of name: [UInt8], _ type: DNSRecordType, in records: [Record]) throws(Malformed) -> ([IPAddress], UInt32)? {
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
                    alias = try self.name(at: record.data.lowerBound).name
                }
            }
            if !found.isEmpty { return (found, ttl) }
            guard let alias else { return nil }
            name = alias
        }
        throw Malformed()
    }

    private func address(in data: Range<Int>, _ type: DNSRecordType) -> IPAddress? {
        switch (type, data.count) {
        case (.a, 4): .v4(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: data.lowerBound, as: UInt32.self)))
        case (.aaaa, 16): .v6(UInt128(bigEndian: bytes.loadUnaligned(fromByteOffset: data.lowerBound, as: UInt128.self)))
        default: nil
        }
    }

    private func records(_ count: UInt16, from offset: inout Int) throws(Malformed) -> [Record] {
        guard count <= Self.maximumRecords else { throw Malformed() }
        var records: [Record] = []
        for _ in 0..<count {
            let (owner, end) = try name(at: offset)
            let length = Int(try number16(at: end + 8))
            let data = (end + 10)..<(end + 10 + length)
            guard data.upperBound <= bytes.count else { throw Malformed() }
            // A lifetime with its highest bit set counts as none (RFC 2181, 8).
            let ttl = try number32(at: end + 4)
            records.append(Record(owner: owner, type: try number16(at: end), ttl: ttl > Int32.max ? 0 : ttl, data: data))
            offset = data.upperBound
        }
        return records
    }

    /// The name at the offset, in lower case as in a message without compression, and where its place in the message ends.
    private func name(at start: Int) throws(Malformed) -> (name: [UInt8], end: Int) {
        var name: [UInt8] = []
        var offset = start
        var end: Int?
        while true {
            guard offset < bytes.count else { throw Malformed() }
            let length = Int(bytes[offset])
            switch length {
            case 0:
                return (name, end ?? offset + 1)
            case 1...63:
                guard offset + 1 + length <= bytes.count, name.count + 1 + length <= 254 else { throw Malformed() }
                name.append(UInt8(length))
                for byte in bytes[(offset + 1)...(offset + length)] { name.append(0x41...0x5a ~= byte ? byte | 0x20 : byte) }
                offset += 1 + length
            case 0xc0...:
                let target = Int(try number16(at: offset)) & 0x3fff
                // Only backwards, so that there is an end.
                guard target < offset else { throw Malformed() }
                end = end ?? offset + 2
                offset = target
            default:
                throw Malformed()
            }
        }
    }

    private func number16(at offset: Int) throws(Malformed) -> UInt16 {
        guard offset + 2 <= bytes.count else { throw Malformed() }
        return UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    private func number32(at offset: Int) throws(Malformed) -> UInt32 {
        guard offset + 4 <= bytes.count else { throw Malformed() }
        return UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
