import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct ReplyReaderTests {
    private static let stream =
        "+OK\r\n:-42\r\n$5\r\nab\0\r\n\r\n$-1\r\n$0\r\n\r\n*0\r\n*-1\r\n*3\r\n:1\r\n*2\r\n$1\r\nx\r\n-WRONGTYPE no\r\n$-1\r\n-LOADING wait\r\n+\r\n"
    private static let replies: [RedisReply] = [
        .status("OK"), .integer(-42), .bytes([97, 98, 0, 13, 10]), .null, .bytes([]), .array([]), .null,
        .array([.integer(1), .array([.bytes([120]), .error(RedisError(.wrongType, "no"))]), .null]),
        .error(RedisError(.loading, "wait")), .status(""),
    ]

    private func read(_ pieces: [[UInt8]], limit: Int = 1 << 20) throws -> [RedisReply] {
        let reader = ReplyReader(maximumReplyBytes: limit)
        var replies: [RedisReply] = []
        for piece in pieces {
            try piece.withUnsafeBytes { try reader.feed($0) { replies.append($0) } }
        }
        return replies
    }

    @Test func `all types come out whole, in one piece or byte by byte or cut anywhere`() throws {
        let bytes = Array(Self.stream.utf8)
        #expect(try read([bytes]) == Self.replies)
        #expect(try read(bytes.map { [$0] }) == Self.replies)
        for cut in 1..<bytes.count {
            #expect(try read([Array(bytes[..<cut]), Array(bytes[cut...])]) == Self.replies, "cut at \(cut)")
        }
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.example ESMTP\r\n", "*x\r\n", ":\r\n", "$-2\r\n", "*-2\r\n",
    ])
    func `bytes that are not a reply are refused`(text: String) {
        let error = #expect(throws: RedisError.self) { try read([Array(text.utf8)]) }
        #expect(error?.kind == .unexpectedReply)
    }

    @Test func `a TLS alert is recognised`() {
        let error = #expect(throws: RedisError.self) { try read([[0x15, 3, 3, 0, 2, 2, 40]]) }
        #expect(error?.kind == .notRedis)
    }

    @Test func `a reply beyond the limit is refused, many small ones are not`() throws {
        let large = Array("$2000\r\n".utf8) + [UInt8](repeating: 1, count: 2000) + [13, 10]
        #expect(try read([large], limit: 3000).count == 1)
        let error = #expect(throws: RedisError.self) { try read(large.map { [$0] }, limit: 1000) }
        #expect(error?.kind == .replyTooLarge)
        let small = [UInt8](repeating: 0, count: 10_000).flatMap { _ in Array(":1\r\n".utf8) }
        #expect(try read([small], limit: 100).count == 10_000)
    }

    @Test func `an announced length costs nothing until its elements are there`() throws {
        let before = residentBytes()
        #expect(try read([Array("*2147483647\r\n:1\r\n:2\r\n".utf8)]) == [])
        #expect(try read([Array("$536870912\r\nabc".utf8)]) == [])
        #expect(residentBytes() - before < 100 << 20)
    }

    @Test func `an array of many short elements counts by its size in memory`() throws {
        let elements = Array(repeating: Array(":1\r\n".utf8), count: 10_000).flatMap { $0 }
        #expect(throws: RedisError.self) { try read([Array("*2147483647\r\n".utf8) + elements], limit: 100_000) }
        #expect(try read([Array("*10000\r\n".utf8) + elements], limit: 1_000_000).count == 1)
    }

    @Test func `errors inside arrays name the server as well`() throws {
        let reader = ReplyReader(maximumReplyBytes: 1000) { RedisError(.busy, "seen \($0)") }
        var replies: [RedisReply] = []
        try Array("*1\r\n-ERR x\r\n".utf8).withUnsafeBytes { try reader.feed($0) { replies.append($0) } }
        #expect(replies == [.array([.error(RedisError(.busy, "seen ERR x"))])])
    }

    @Test func `the nesting of arrays is bounded`() {
        var builder = ReplyBuilder()
        for level in 0..<128 {
            let isTaken = builder.begin(arrayOf: 1)
            #expect(isTaken, "level \(level)")
        }
        let isTaken = builder.begin(arrayOf: 1)
        #expect(!isTaken)
    }

    @Test func `values are read as what they are and nothing else`() throws {
        #expect(try RedisReply.integer(3).asInteger() == 3)
        #expect(try RedisReply.bytes([104, 105]).asString() == "hi")
        #expect(try RedisReply.status("OK").asBytes() == Array("OK".utf8))
        #expect(try RedisReply.null.asOptionalBytes() == nil)
        #expect(try RedisReply.array([.null]).asArray() == [.null])
        #expect(throws: RedisError(.unexpectedReply, "The server answered nothing where a string was expected.")) {
            try RedisReply.null.asBytes()
        }
        #expect(throws: RedisError(.busy)) { try RedisReply.error(RedisError(.busy)).asInteger() }
    }
}
