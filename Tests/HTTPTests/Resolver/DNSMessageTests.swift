import GannetTestKit
import Testing

@testable import GannetHTTP

struct DNSMessageTests {
    private static let question = [1] + Array("a".utf8) + [4] + Array("test".utf8) + [0, 0, 1, 0, 1]

    /// A message with the question for `a.test`, and the records behind it.
    private static func message(_ answers: UInt8, authorities: UInt8 = 0, code: UInt8 = 0, _ records: [UInt8]) -> [UInt8] {
        [0, 0, 0x81, 0x80 | code, 0, 1, 0, answers, 0, authorities, 0, 0] + question + records
    }

    private static func record(_ type: UInt8, ttl: [UInt8] = [0, 0, 0, 60], _ data: [UInt8], owner: [UInt8] = [0xc0, 12]) -> [UInt8] {
        owner + [0, type, 0, 1] + ttl + [UInt8(data.count >> 8), UInt8(data.count & 255)] + data
    }

    private func read(_ bytes: [UInt8], _ type: DNSRecordType = .a) -> QueryOutcome {
        bytes.withUnsafeBytes { DNSMessage.reply(in: $0, type: type) }
    }

    @Test func `the shortest time to live of addresses and aliases counts, and each address once`() {
        let alias = Self.record(5, ttl: [0, 0, 0, 20], [1, 0x62, 0])
        let bytes = Self.message(
            4,
            alias + Self.record(1, ttl: [0, 0, 0, 9], [1, 2, 3, 4], owner: [1, 0x42, 0])
                + Self.record(1, [1, 2, 3, 4], owner: [1, 0x62, 0])
                + Self.record(1, [9, 9, 9], owner: [1, 0x62, 0]))
        #expect(read(bytes) == .addresses([.v4(0x0102_0304)], ttl: 9))
    }

    @Test func `a time to live with its highest bit set is none`() {
        #expect(read(Self.message(1, Self.record(1, ttl: [0x80, 0, 0, 0], [1, 2, 3, 4]))) == .addresses([.v4(0x0102_0304)], ttl: 0))
    }

    @Test func `a negative answer is remembered for the lesser of two times`() {
        let soa = Self.record(6, ttl: [0, 0, 0, 50], [0, 0] + [UInt8](repeating: 0, count: 16) + [0, 0, 0, 70])
        #expect(read(Self.message(0, authorities: 1, code: 3, soa)) == .noSuchName(ttl: 50))
        #expect(read(Self.message(0, authorities: 1, soa)) == .noData(ttl: 50))
        #expect(read(Self.message(0, authorities: 1, code: 3, [])) == .noSuchName(ttl: nil))
    }

    @Test(
        arguments: [
            [], [0, 0, 0x81], message(1, []), message(1, Array(record(1, [1, 2, 3, 4]).dropLast())),
            message(1, [0xc0, 0xff] + record(1, [1, 2, 3, 4])),
            message(1, record(1, [1, 2, 3, 4], owner: [0xc0, 29])), message(1, record(1, [1, 2, 3, 4], owner: [0x80, 1])),
            message(1, record(5, [0xc0, 12])), message(0, []).map { $0 == 0x81 ? 0x01 : $0 },
            // A label and then back to it, for ever.
            message(1, record(1, [1, 2, 3, 4], owner: [1, 0x61, 0xc0, 24])),
        ] as [[UInt8]])
    func `a malformed message is reported as nonsense`(bytes: [UInt8]) {
        #expect(read(bytes) == .trouble(.nonsense))
    }

    @Test func `no message makes the reader trap`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededBytes(seed: seed)
        let alias = Self.record(5, [1, 0x62, 0xc0, 14])
        let soa = Self.record(6, [0, 0] + [UInt8](repeating: 7, count: 20))
        let whole = Self.message(
            3, authorities: 1, alias + Self.record(1, [1, 2, 3, 4]) + Self.record(28, [UInt8](repeating: 1, count: 16)) + soa)
        var outcomes: Set<QueryOutcome> = []
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<(1 + random.next() % 4) {
                switch random.next() % 4 {
                case 0: bytes.removeLast(min(bytes.count, Int(random.next() % 20)))
                case 1 where !bytes.isEmpty: bytes[Int(random.next() % UInt64(bytes.count))] = 0xc0
                case 2 where !bytes.isEmpty: bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                default: bytes += random.next(count: Int(random.next() % 9))
                }
            }
            outcomes.insert(read(bytes, random.next() % 2 == 0 ? .a : .aaaa))
        }
        #expect(outcomes.contains(.trouble(.nonsense)) && outcomes.count > 10, "seed \(seed)")
    }
}
