internal import GannetHTTP

extension DNSReply {
    /// The messages to send, in order; the answer is the last. Over UDP one that does not fit is cut to its header and question.
    func messages(to query: DNSQuery, overTCP: Bool) -> [[UInt8]] {
        var messages = overTCP ? [] : decoys.filter { $0 != .fromElsewhere }.map { message(decoy: $0, for: query) }
        if let raw {
            messages.append([UInt8(query.id >> 8), UInt8(query.id & 0xff)] + raw)
            return messages
        }
        let whole = message(to: query)
        messages.append(!overTCP && (isTruncated || whole.count > query.sizeLimit) ? Self.cut(whole, query) : whole)
        return messages
    }

    /// The decoy for a client that takes answers from anyone.
    func forgery(to query: DNSQuery) -> [UInt8]? {
        decoys.contains(.fromElsewhere) ? DNSReply.addresses("6.6.6.6").message(to: query) : nil
    }

    private func message(decoy: Decoy, for query: DNSQuery) -> [UInt8] {
        let forged = DNSReply.addresses("6.6.6.6")
        switch decoy {
        case .wrongID: return forged.message(to: query, id: query.id ^ 0x5555)
        case .wrongQuestion: return forged.message(to: query, question: [5] + Array("wrong".utf8) + [0, 0, 1, 0, 1])
        case .garbage: return [UInt8(query.id >> 8), UInt8(query.id & 0xff)] + [UInt8](repeating: 0xc0, count: 40)
        case .nothing, .fromElsewhere: return []
        }
    }

    private func message(to query: DNSQuery, id: UInt16? = nil, question: [UInt8]? = nil) -> [UInt8] {
        let id = id ?? query.id
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128 + addresses.count * 28)
        bytes.append(UInt8(id >> 8))
        bytes.append(UInt8(id & 0xff))
        // An answer to a query that wished recursion, by a server that offers it.
        bytes.append(0x81)
        bytes.append(0x80 | code.rawValue)
        bytes += [0, 1, 0, 0, 0, 0, 0, 0]
        if let question { bytes += question } else { bytes += query.question }

        var answers = 0
        // The asked name stands at offset 12.
        var owner: [UInt8] = [0xc0, 12]
        for alias in aliases {
            let target = Self.encoded(alias)
            bytes += owner
            Self.append(type: 5, ttl: ttl, length: target.count, to: &bytes)
            bytes += target
            owner = target
            answers += 1
        }
        for address in addresses {
            switch (address, query.type) {
            case (.v4(let bits), .a):
                bytes += owner
                Self.append(type: 1, ttl: ttl, length: 4, to: &bytes)
                for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
                answers += 1
            case (.v6(let bits), .aaaa):
                bytes += owner
                Self.append(type: 28, ttl: ttl, length: 16, to: &bytes)
                withUnsafeBytes(of: bits.bigEndian) { bytes += $0 }
                answers += 1
            default: break
            }
        }
        Self.set(answers, at: 6, in: &bytes)
        if answers == aliases.count, code == .success || code == .nameError, let negativeTTL {
            let zone = Self.encoded("zone.test")
            bytes += [0]
            Self.append(type: 6, ttl: 3600, length: zone.count * 2 + 20, to: &bytes)
            bytes += zone + zone
            for number in [1, 7200, 900, 86_400, negativeTTL] as [UInt32] { Self.append(number, to: &bytes) }
            Self.set(1, at: 8, in: &bytes)
        }
        if query.hasEDNS, knowsEDNS {
            bytes += [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]
            Self.set(1, at: 10, in: &bytes)
        }
        return bytes
    }

    private static func cut(_ message: [UInt8], _ query: DNSQuery) -> [UInt8] {
        var bytes = Array(message.prefix(12 + query.question.count))
        bytes[2] |= 2
        for index in 6..<12 { bytes[index] = 0 }
        return bytes
    }

    private static func encoded(_ name: String) -> [UInt8] {
        name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    private static func append(type: UInt16, ttl: UInt32, length: Int, to bytes: inout [UInt8]) {
        bytes.append(0)
        bytes.append(UInt8(type))
        bytes.append(0)
        bytes.append(1)
        append(ttl, to: &bytes)
        bytes.append(UInt8(length >> 8))
        bytes.append(UInt8(length & 0xff))
    }

    private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private static func set(_ count: Int, at offset: Int, in bytes: inout [UInt8]) {
        bytes[offset] = UInt8(count >> 8)
        bytes[offset + 1] = UInt8(count & 0xff)
    }
}
