import GannetRedisClient
import Testing

@testable import GannetQueue

/// Steps that are prepared by plain commands.
@Suite struct CommitTests {
    private func commit(_ fixture: QueueFixture, _ prepare: (inout Commit) -> Void) async throws -> Bool {
        var commit = Commit()
        prepare(&commit)
        return try await commit.run(fixture.cluster, in: fixture.cluster.home, queue: fixture.queue.name)
    }

    @Test(arguments: [["b", "2", ""], ["a", "2", ""], ["b", "3", ""], ["b", "2", "x"]])
    func `a step is carried out as a whole, if all that it rests on is still so`(replies: [String]) async throws {
        try await QueueFixture.with { fixture in
            let (list, hash, none) = (
                RedisArgument.string(fixture.key("list")), RedisArgument.string(fixture.key("hash")),
                RedisArgument.string(fixture.key("none"))
            )
            try await fixture.send("RPUSH", "list", "a", "b")
            let isSame = replies == ["b", "2", ""]
            let isDone = try await commit(fixture) { commit in
                commit.check(Array(replies[0].utf8), "LINDEX", list, -1)
                commit.check(Array(replies[1].utf8), "LLEN", list)
                commit.check(replies[2].isEmpty ? nil : Array(replies[2].utf8), "GET", none)
                commit.write("LSET", list, -1, "c")
                commit.count(3, "n", in: hash)
                commit.count(0, "m", in: hash)
            }
            #expect(isDone == isSame)
            #expect(try await fixture.send("LINDEX", "list", -1).asString() == (isSame ? "c" : "b"))
            #expect(try await fixture.send("HKEYS", "hash").asArray().count == (isSame ? 1 : 0))
        }
    }

    @Test func `a step that meets a key of another type changes nothing`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.send("SET", "text", "x")
            let before = try await fixture.dump()
            for command in ["HSET", "ZADD", "RPUSH", "LSET"] {
                await #expect(throws: RedisError.self, "\(command)") {
                    try await commit(fixture) { commit in
                        commit.write("HSET", .string(fixture.key("hash")), "n", "1")
                        commit.write(.string(command), .string(fixture.key("text")), "1", "1")
                    }
                }
            }
            #expect(try await fixture.dump() == before)
        }
    }
}
