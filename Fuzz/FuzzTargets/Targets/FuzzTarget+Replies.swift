import GannetQueue
import GannetRedisClient

extension FuzzTarget {
    /// The input is a byte that says in which pieces a server's bytes come, and these bytes. With an even one they are the text of an error.
    static let replies = FuzzTarget(name: "replies", maximumLength: 4096) {
        ([moved, sentinel, hello] + maps + streams).flatMap { [[16] + $0, [17] + $0] }
    } check: { (input) throws(BrokenInvariant) in
        guard let first = input.first, input.count > 1 else { return }
        let bytes = Array(input.dropFirst())
        if first.isMultiple(of: 2) { return try checkError(of: bytes) }
        let whole = RESP.read(bytes, pieces: bytes.count, limit: limit)
        try checkPieces(whole, bytes, Int(first) + 1)
        for reply in whole.replies {
            try checkSize(of: reply, bytes.count)
            try checkMap(reply)
            if let word = try? SentinelWord(reply) { try require(1...65535 ~= word.primary.port, "a Sentinel names a port of \(reply)") }
            if let fields = try? reply.asArray(), let facts = ServerFacts(fields) {
                try require(facts.version.description.contains("."), "the version of \(reply) is none")
            }
            if case .error(let error) = reply { try checkError(error) }
        }
    }

    /// Of one reply, in bytes. The reader takes up to 16 KiB at once, and counts them when it has read them.
    private static let limit = 2048
    private static let asked = RedisAddress.tcp(host: "asked.example", port: 6379, tls: false)

    /// The replies must not depend on the pieces in which they come. Where one is too large, that shows earlier in smaller pieces.
    private static func checkPieces(
        _ whole: (replies: [RedisReply], error: RedisError?), _ bytes: [UInt8], _ size: Int
    ) throws(BrokenInvariant) {
        let pieces = RESP.read(bytes, pieces: size, limit: limit)
        if pieces.error?.kind == .replyTooLarge || whole.error?.kind == .replyTooLarge { return }
        try require(pieces.replies == whole.replies, "in pieces of \(size) bytes, \(bytes) is \(pieces.replies)")
        try require(pieces.error?.kind == whole.error?.kind, "in pieces of \(size) bytes, \(bytes) fails otherwise")
    }

    private static func checkSize(of reply: RedisReply, _ count: Int) throws(BrokenInvariant) {
        let size = RESP.size(reply)
        // The shortest element has three bytes.
        try require(size.elements <= count / 3 && size.depth <= 128, "\(count) bytes are \(size.elements) elements")
        guard let bytes = RESP.bytes(reply) else { return }
        try require(RESP.first(bytes) == reply, "\(reply) written and read is another")
    }

    private static func checkMap(_ reply: RedisReply) throws(BrokenInvariant) {
        guard var map = try? ClusterMap(reply, from: asked) else { return }
        try checkOwners(map)
        let other = RedisAddress.tcp(host: "moved.example", port: 7, tls: false)
        map.move(HashSlot(number: 5), to: other)
        try require(map.owner(of: HashSlot(number: 5)) == other, "a slot did not move")
    }

    private static func checkOwners(_ map: ClusterMap) throws(BrokenInvariant) {
        var seen: [RedisAddress] = []
        for number in 0..<HashSlot.count {
            guard let owner = map.owner(of: HashSlot(number: number)), owner != seen.last, !seen.contains(owner) else { continue }
            seen.append(owner)
        }
        try require(seen == map.primaries, "the primaries are \(map.primaries), and the slots' are \(seen)")
        for primary in map.primaries {
            guard case .tcp(_, let port, _) = primary else { throw BrokenInvariant(description: "\(primary) is no server of a cluster") }
            try require(1...65535 ~= port, "a map names the port \(port)")
        }
    }

    private static func checkError(_ error: RedisError) throws(BrokenInvariant) {
        guard let redirection = Redirection(error, from: asked) else { return }
        guard case .tcp(let host, let port, _) = redirection.address else { throw BrokenInvariant(description: "\(error) leads nowhere") }
        try require(!host.isEmpty && 1...65535 ~= port && 0..<HashSlot.count ~= redirection.slot.number, "\(error) leads nowhere")
    }

    /// A server's error with a password in it.
    private static func checkError(of bytes: [UInt8]) throws(BrokenInvariant) {
        let (text, secret) = (String(decoding: bytes, as: UTF8.self), "pass-word-1234")
        let middle = text.index(text.startIndex, offsetBy: text.count / 2)
        for text in [text, text + secret, text[..<middle] + secret + text[middle...]] {
            let error = RedisError(reply: text, scrubbing: RedisSecret(secret))
            try require(!"\(error)".contains(secret), "\(text.debugDescription) shows the password")
            try require(error.detail.count <= 300, "an error of \(error.detail.count) characters")
        }
    }

    // MARK: Inputs to begin with

    private static let moved = Array(
        "-MOVED 3999 10.0.0.2:6381\r\n-ASK 1 :7\r\n-ERR unknown command 'X', with args beginning with: 'a'\r\n".utf8)
    private static let sentinel = RESP.texts("name", "p", "ip", "10.0.0.1", "port", "6379", "config-epoch", "3")
    private static let hello = RESP.texts("server", "redis", "version", "7.2.4", "mode", "cluster", "role", "master")

    private static var maps: [[UInt8]] {
        let node: [RedisReply] = [
            .text("id"), .text("x"), .text("port"), .integer(7000), .text("endpoint"), .text("10.0.0.1"), .text("role"), .text("master"),
            .text("health"), .text("online"),
        ]
        let slots: [RedisReply] = [.integer(0), .integer(99)]
        let shard: [RedisReply] = [
            .text("slots"), .array(slots + [.integer(200), .integer(16383)]), .text("nodes"), .array([.array(node)]),
        ]
        let range: [RedisReply] = slots + [.array([.text("10.0.0.1"), .integer(7000), .text("id")])]
        return [RedisReply.array([.array(shard)]), .array([.array(range)])].compactMap { RESP.bytes($0) }
    }

    private static var streams: [[UInt8]] {
        [
            "+OK\r\n:5\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n*2\r\n+a\r\n-ERR b\r\n", "*2147483647\r\n", "$2147483647\r\n", "*1\r\n*1\r\n*0\r\n",
            String(repeating: "*1\r\n", count: 140) + ":1\r\n",
            "-NOPERM this user has no permissions to run the 'get' command\r\n", ":9223372036854775808\r\n",
            "_\r\n#t\r\n,1.5\r\n%1\r\n+a\r\n+b\r\n",
        ].map { Array($0.utf8) }
    }
}
