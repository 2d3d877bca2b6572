import GannetBase
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct OutputQueueTests {
    private static let large = [UInt8](repeating: 7, count: OutputQueue.sharedArgumentBytes)
    private static let commands = [
        RedisCommand("SET", "key", .bytes([0, 13, 10, 255])),
        RedisCommand("SET", .string("grün"), .integer(-1205)),
        RedisCommand("SET", "big", .bytes(large), "EX", 9),
        RedisCommand("MSET", .bytes(large), .bytes(large)),
        RedisCommand("ECHO", ""),
        RedisCommand("INCRBY", .integer(Int.min), .integer(Int.max), 0, 10),
    ]

    private static func framed(_ commands: [RedisCommand]) -> [UInt8] {
        commands.flatMap { command -> [UInt8] in
            Array("*\(command.arguments.count)\r\n".utf8)
                + command.arguments.flatMap { argument -> [UInt8] in
                    let bytes: [UInt8] =
                        switch argument {
                        case .string(let text): Array(text.utf8)
                        case .bytes(let bytes): bytes
                        case .integer(let number): Array(String(number).utf8)
                        }
                    return Array("$\(bytes.count)\r\n".utf8) + bytes + [13, 10]
                }
        }
    }

    @Test func `commands are encoded as the protocol asks`() {
        var queue = OutputQueue()
        for command in Self.commands { queue.append(command) }
        let expected = Self.framed(Self.commands)
        #expect(queue.appended == expected.count)
        #expect(queue.pendingBytes == expected.count)
        var out: [UInt8] = []
        let stop = queue.drain { bytes in
            out += bytes
            return .bytes(bytes.count)
        }
        #expect(stop == nil)
        #expect(out == expected)
        #expect(queue.isEmpty && queue.written == expected.count)
    }

    @Test func `a write may be cut anywhere, with more commands in between`() {
        let commands = Array(Self.commands.prefix(2)) + [RedisCommand("SET", .bytes(Self.large)), RedisCommand("PING")]
        let expected = Self.framed(commands + commands)
        let interesting = Array(0..<160) + Array(expected.count / 2 - 60..<expected.count / 2 + 10)
        for split in interesting {
            var queue = OutputQueue()
            for command in commands { queue.append(command) }
            var out: [UInt8] = []
            var left = min(split, queue.pendingBytes)
            let stop = queue.drain { bytes in
                let count = min(left, bytes.count)
                guard count > 0 else { return .needsWrite }
                out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                left -= count
                return .bytes(count)
            }
            if split < queue.appended {
                guard case .needsWrite = stop else { return #expect(Bool(false), "cut at \(split)") }
            }
            #expect(queue.written == out.count)
            for command in commands { queue.append(command) }
            _ = queue.drain { bytes in
                out += bytes
                return .bytes(bytes.count)
            }
            #expect(out == expected, "cut at \(split)")
        }
    }

    @Test func `a byte at a time comes out whole`() {
        var queue = OutputQueue()
        var out: [UInt8] = []
        let commands = [RedisCommand("SET", "key", .bytes(Self.large)), RedisCommand("PING")]
        for command in commands {
            queue.append(command)
            _ = queue.drain { bytes in
                out.append(bytes[0])
                return .bytes(1)
            }
        }
        #expect(out == Self.framed(commands))
    }

    @Test func `a large argument is the caller's own memory`() {
        let body = [UInt8](repeating: 1, count: 1 << 20)
        let address = body.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        var queue = OutputQueue()
        queue.append(RedisCommand("SET", "key", .bytes(body)))
        var addresses: [UInt] = []
        _ = queue.drain { bytes in
            addresses.append(UInt(bitPattern: bytes.baseAddress))
            return .bytes(bytes.count)
        }
        #expect(addresses.contains(address))
        #expect(body.allSatisfy { $0 == 1 })
    }

    @Test func `emptied segments do not pile up while the socket is always a little behind`() {
        var queue = OutputQueue()
        for _ in 0..<3 { queue.append(RedisCommand("SET", "key", .bytes(Self.large))) }
        for _ in 0..<10_000 {
            queue.append(RedisCommand("SET", "key", .bytes(Self.large)))
            var left = 2
            _ = queue.drain { bytes in
                left -= 1
                return left < 0 ? .needsWrite : .bytes(bytes.count)
            }
        }
        #expect(!queue.isEmpty)
        #expect(queue.segments.count < 300)
    }

    @Test func `after a reset nothing of the old stream is left`() {
        var queue = OutputQueue()
        for command in Self.commands { queue.append(command) }
        queue.reset()
        #expect(queue.isEmpty && queue.appended == 0 && queue.written == 0)
        queue.append(RedisCommand("PING"))
        var out: [UInt8] = []
        _ = queue.drain { bytes in
            out += bytes
            return .bytes(bytes.count)
        }
        #expect(out == Array("*1\r\n$4\r\nPING\r\n".utf8))
    }

    @Test(arguments: [0, 1, 9, 10, 99, 100, -1, -9, -10, Int.max, Int.min, 1_000_000_007])
    func `integers are written as Swift writes them`(number: Int) {
        var buffer: [UInt8] = [1]
        DecimalDigits.append(number, to: &buffer)
        #expect(String(decoding: buffer.dropFirst(), as: UTF8.self) == String(number))
        #expect(DecimalDigits.count(of: number) == String(number).utf8.count)
    }
}
