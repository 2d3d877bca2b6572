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
        self = Checksum(of: tag).slot
    }
}

extension HashSlot {
    /// CRC-16/XMODEM, which Redis has chosen, of the bytes so far.
    package struct Checksum {
        private var sum: UInt16 = 0

        package init(of bytes: some Sequence<UInt8>) { for byte in bytes { add(byte) } }

        package var slot: HashSlot { HashSlot(number: Int(sum) % HashSlot.count) }

        package func adding(_ bytes: some Sequence<UInt8>) -> Checksum {
            var copy = self
            for byte in bytes { copy.add(byte) }
            return copy
        }

        /// With the number in decimal digits.
        package func adding(number: Int) -> Checksum {
            var copy = number < 10 ? self : adding(number: number / 10)
            copy.add(UInt8(ascii: "0") + UInt8(number % 10))
            return copy
        }

        private mutating func add(_ byte: UInt8) {
            sum = (sum << 8) ^ Self.table[Int(UInt8(truncatingIfNeeded: sum >> 8) ^ byte)]
        }

        private static let table: [UInt16] = (0..<256).map { byte in
            (0..<8).reduce(UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
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
