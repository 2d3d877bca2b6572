import Testing

@testable import GannetRedisClient

@Suite struct ClusterMapTests {
    private static let asked = RedisAddress.tcp(host: "h", port: 1, tls: false)

    private static func tcp(_ host: String, _ port: Int) -> RedisAddress { .tcp(host: host, port: port, tls: false) }

    private static func node(_ host: RedisReply, _ port: Int, role: String = "master", health: String = "online") -> RedisReply {
        .array([
            "id", "x", "port", .integer(port), "tls-port", .integer(port + 1000), "ip", "10.0.0.9", "endpoint", host, "role",
            .bytes(Array(role.utf8)),
            "health", .bytes(Array(health.utf8)),
        ])
    }

    private static func shard(_ slots: [Int], _ nodes: RedisReply...) -> RedisReply {
        .array(["slots", .array(slots.map { .integer($0) }), "nodes", .array(nodes)])
    }

    @Test func `the answer to CLUSTER SHARDS says which primary has a slot`() throws {
        let map = try ClusterMap(
            .array([
                Self.shard([10000, 16383, 0, 10], Self.node("b", 2, role: "replica"), Self.node("b", 1)),
                Self.shard([11, 9999], Self.node("a", 3, health: "fail"), Self.node("a", 4)),
                Self.shard([], Self.node("c", 5)),
            ]), from: Self.asked)
        #expect(map.primaries == [Self.tcp("b", 1), Self.tcp("a", 4)])
        for (slot, owner) in [(0, "b"), (10, "b"), (11, "a"), (9999, "a"), (16383, "b")] {
            guard case .tcp(owner, _, _)? = map.owner(of: HashSlot(number: slot)) else {
                Issue.record("slot \(slot)")
                continue
            }
        }
    }

    @Test func `the answer to CLUSTER SLOTS says the same, and slots without a server have none`() throws {
        let map = try ClusterMap(
            .array([.array([.integer(5), .integer(9), .array(["a", .integer(3), "id"]), .array(["r", .integer(4), "id"])])]),
            from: Self.asked)
        #expect(map.owner(of: HashSlot(number: 5)) == Self.tcp("a", 3))
        #expect(map.owner(of: HashSlot(number: 4)) == nil && map.owner(of: HashSlot(number: 10)) == nil)
    }

    @Test func `a server without a name is at the host that was asked`() throws {
        for host: RedisReply in ["", "?", .null] {
            let map = try ClusterMap(.array([Self.shard([0, 1], Self.node(host, 7))]), from: Self.asked)
            #expect(map.primaries == [Self.tcp("h", 7)], "\(host)")
        }
    }

    @Test func `over TLS the other port counts`() throws {
        let map = try ClusterMap(.array([Self.shard([0, 1], Self.node("a", 7))]), from: .tcp(host: "h", port: 1, tls: true))
        #expect(map.primaries == [.tcp(host: "a", port: 1007, tls: true)])
    }

    @Test(arguments: [
        RedisReply.array([.array([.integer(5)])]), .integer(1), .array([.array([.integer(9), .integer(5), .array(["a", .integer(3)])])]),
        .array([.array([.integer(0), .integer(16384), .array(["a", .integer(3)])])]), .array([.array(["slots", .integer(1)])]),
    ])
    func `an answer of another form is refused`(reply: RedisReply) {
        #expect(throws: RedisError.self) { try ClusterMap(reply, from: Self.asked) }
    }

    @Test(arguments: [0, -1, 65536]) func `a map with a port that there is not is refused`(port: Int) {
        #expect(throws: RedisError.self) { try ClusterMap(.array([Self.shard([0, 1], Self.node("a", port))]), from: Self.asked) }
        let range = RedisReply.array([.integer(0), .integer(1), .array(["a", .integer(port)])])
        #expect(throws: RedisError.self) { try ClusterMap(.array([range]), from: Self.asked) }
    }

    @Test func `a primary whose slots another one has is forgotten`() throws {
        let map = try ClusterMap(
            .array([Self.shard([0, 9], Self.node("a", 1)), Self.shard([0, 5], Self.node("b", 2)), Self.shard([6, 9], Self.node("c", 3))]),
            from: Self.asked)
        #expect(map.primaries == [Self.tcp("b", 2), Self.tcp("c", 3)])
    }

    @Test func `a map does not grow with the servers to which slots are said to move`() throws {
        var map = try ClusterMap(.array([Self.shard([0, 16383], Self.node("a", 1))]), from: Self.asked)
        for port in 1...2000 { map.move(HashSlot(number: port % 2), to: Self.tcp("b", port)) }
        #expect(map.primaries.count <= ClusterMap.usual)
        #expect(map.owner(of: HashSlot(number: 0)) == Self.tcp("b", 2000) && map.owner(of: HashSlot(number: 2)) == Self.tcp("a", 1))
    }

    @Test func `a map knows all primaries where there are more than usual`() throws {
        var map = try ClusterMap(.array([Self.shard([0, 16383], Self.node("a", 1))]), from: Self.asked)
        for slot in 0..<300 { map.move(HashSlot(number: slot), to: Self.tcp("b", slot + 1)) }
        #expect(map.primaries.count <= 301 + ClusterMap.usual)
        for slot in [0, 62, 63, 64, 65, 127, 128, 255, 256, 299] {
            #expect(map.owner(of: HashSlot(number: slot)) == Self.tcp("b", slot + 1))
        }
        #expect(map.owner(of: HashSlot(number: 300)) == Self.tcp("a", 1))
    }

    @Test func `a node that sends a command on says where to`() {
        let moved = Redirection(RedisError(.moved, "3999 10.0.0.2:6381"), from: Self.asked)
        #expect(moved?.slot.number == 3999 && moved?.address == Self.tcp("10.0.0.2", 6381))
        #expect(Redirection(RedisError(.ask, "1 :6381"), from: Self.asked)?.address == Self.tcp("h", 6381))
        #expect(Redirection(RedisError(.moved, "1 2001:db8::1:6381"), from: Self.asked)?.address == Self.tcp("2001:db8::1", 6381))
        for text in ["", "x 10.0.0.2:6381", "16384 a:1", "1 a", "1 a:0", "1 a:70000"] {
            #expect(Redirection(RedisError(.moved, text), from: Self.asked) == nil, "\(text)")
        }
        #expect(Redirection(RedisError(.tryAgain, "1 a:1"), from: Self.asked) == nil)
    }
}
