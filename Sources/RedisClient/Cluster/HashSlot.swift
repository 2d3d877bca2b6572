/// One of the 16,384 parts of a Redis Cluster's keys. All keys with the same text between the first `{` and the next `}` are in one slot.
package struct HashSlot: Sendable, Hashable {
    package let number: Int

    package static let count = 16_384

    package init(number: Int) { self.number = number }

    /// The slot of a key.
    package init(of key: some Collection<UInt8>) {
        var tag = key[...]
        if let opening = key.firstIndex(of: UInt8(ascii: "{")) {
            let rest = key[key.index(after: opening)...]
            if let closing = rest.firstIndex(of: UInt8(ascii: "}")), closing != rest.startIndex { tag = rest[..<closing] }
        }
        number = Int(Self.checksum(of: tag)) % Self.count
    }

    /// CRC-16/XMODEM, which Redis has chosen.
    private static func checksum(of bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0) { sum, byte in (sum << 8) ^ table[Int(UInt8(truncatingIfNeeded: sum >> 8) ^ byte)] }
    }

    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
    }
}

extension HashSlot {
    package init(of key: RedisArgument) {
        switch key {
        case .string(let text): self.init(of: text.utf8)
        case .bytes(let bytes): self.init(of: bytes)
        case .integer(let number): self.init(of: String(number).utf8)
        }
    }
}

extension RedisCommand {
    /// The slot of the command's first key, or of its channel; `nil` for a command without one, such as `TIME`. A command has keys of one
    /// slot only.
    var slot: HashSlot? {
        guard case .string(let name) = arguments[0] else { return nil }
        switch name {
        case "EVALSHA", "EVAL":
            guard arguments.count > 3, case .integer(1...) = arguments[2] else { return nil }
            return HashSlot(of: arguments[3])
        case "TIME", "INFO", "SCAN", "PING", "CLUSTER", "WAIT", "PUBLISH": return nil
        default: return arguments.count > 1 ? HashSlot(of: arguments[1]) : nil
        }
    }
}
