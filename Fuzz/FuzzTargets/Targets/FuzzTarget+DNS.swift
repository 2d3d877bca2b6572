import GannetHTTP

extension FuzzTarget {
    /// The input is a byte that says which records were asked for, and the message of a name server, which may be forged.
    static let dns = FuzzTarget(name: "dns", maximumLength: 1024) {
        let alias = record(5, [1, 0x62, 0])
        let addresses = record(1, [1, 2, 3, 4], owner: [1, 0x62, 0]) + record(28, Array(0..<16), owner: [1, 0x42, 0])
        let soa = record(6, [0, 0] + [UInt8](repeating: 7, count: 20))
        return [
            message(3, alias + addresses), message(2, record(1, [1, 2, 3, 4]) + record(1, [9, 8, 7, 6])),
            message(20, (0..<20).flatMap { record(1, [10, 0, 0, $0]) }), message(0, authorities: 1, code: 3, soa),
            message(0, authorities: 1, soa), message(1, code: 2, alias),
        ].flatMap { [[0] + $0, [1] + $0, [2] + $0] }
    } check: { (input) throws(BrokenInvariant) in
        guard let first = input.first else { return }
        let types: [DNSRecordType] = [.a, .aaaa, .ns]
        let type = types[Int(first) % types.count]
        let message = Array(input.dropFirst())
        let outcome = read(message, type)
        if outcome == .trouble(.nonsense) { return }
        try require(message.count >= 12 && message[2] & 0x80 != 0, "\(message) is taken for an answer")
        switch outcome {
        case .addresses(let addresses, let ttl):
            try require(1...16 ~= addresses.count && Set(addresses).count == addresses.count, "\(message) has the addresses \(addresses)")
            try require(ttl <= Int32.max, "\(message) may be remembered for \(ttl) s")
            for address in addresses { try require(isFound(address, type, in: message), "\(message) has no \(address)") }
            // Such as the records of the sections behind the answers.
            try require(read(message + [0], type) == outcome, "\(message) depends on bytes behind it")
        case .noData(let ttl?), .noSuchName(let ttl?): try require(ttl <= Int32.max, "\(message) may be remembered for \(ttl) s")
        case .noData(nil), .noSuchName(nil), .trouble, .truncated: break
        case .silence, .unreachable, .outOfMemory: throw BrokenInvariant(description: "\(message) has not come")
        }
    }

    private static func read(_ message: [UInt8], _ type: DNSRecordType) -> QueryOutcome {
        message.withUnsafeBytes { DNSMessage.reply(in: $0, type: type) }
    }

    private static func isFound(_ address: IPAddress, _ type: DNSRecordType, in message: [UInt8]) -> Bool {
        switch (type, address) {
        case (.a, .v4(let number)): withUnsafeBytes(of: number.bigEndian) { message.firstRange(of: $0) != nil }
        case (.aaaa, .v6(let number)): withUnsafeBytes(of: number.bigEndian) { message.firstRange(of: $0) != nil }
        default: false
        }
    }

    // MARK: Inputs to begin with

    /// An answer with a question for `a.test`, and the records behind it.
    private static func message(_ answers: UInt8, authorities: UInt8 = 0, code: UInt8 = 0, _ records: [UInt8]) -> [UInt8] {
        let question = [1] + Array("a".utf8) + [4] + Array("test".utf8) + [0, 0, 1, 0, 1]
        return [0, 0, 0x81, 0x80 | code, 0, 1, 0, answers, 0, authorities, 0, 0] + question + records
    }

    private static func record(_ type: UInt8, _ data: [UInt8], owner: [UInt8] = [0xc0, 12]) -> [UInt8] {
        owner + [0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
    }
}
