import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// There is one schema. Data of another is refused, and an entry that cannot be read is named.
@Suite struct NamespaceSchemaTests {
    @Test func `data of another schema is refused, and stays as it is`() async throws {
        try await QueueFixture.with { fixture in
            let schema = RedisArgument.string(fixture.key("schema"))
            #expect(try await fixture.cluster.checked().partitions.count == 1)
            #expect(try await fixture.redis.send(RedisCommand("GET", schema)).asString() == "4/1")
            for found in ["1.1", "2.0/1", "2.0/16/spread", "40/1", "3/1", "4.1/1"] {
                try await fixture.redis.send(RedisCommand("SET", schema, .string(found)))
                let version = found.split(separator: "/").first.map(String.init) ?? ""
                for use in [ClusterState.Use.begins, .looks, .damage] {
                    await #expect(throws: StateError.otherSchema(found: version)) { try await fixture.cluster.checked(use) }
                }
                #expect(try await fixture.redis.send(RedisCommand("GET", schema)).asString() == found)
            }
            try await fixture.redis.send(RedisCommand("SET", schema, "4/16"))
            #expect(try await fixture.cluster.checked().partitions.count == 16)
        }
    }

    @Test func `an entry that cannot be read is named`() async throws {
        try await QueueFixture.with { fixture in
            let schema = RedisArgument.string(fixture.key("schema"))
            for found in ["4", "4/0", "4/x", "4/1/1", "", "x", "/1"] {
                try await fixture.redis.send(RedisCommand("SET", schema, .string(found)))
                await #expect(throws: StateError.damagedSchema(key: fixture.key("schema"), found: found)) {
                    try await fixture.cluster.checked()
                }
            }
            _ = try await fixture.redis.send(RedisCommand("DEL", schema))
            _ = try await fixture.redis.send(RedisCommand("LPUSH", schema, "x"))
            await #expect(throws: StateError.damagedSchema(key: fixture.key("schema"), found: nil)) {
                try await fixture.cluster.checked(.looks)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a worker that was there before gives a namespace that Redis has lost its schema again`(leaves: Bool) async throws {
        try await QueueFixture.with { fixture in
            _ = try await fixture.queue.beat("w", .ofTest)
            // Another namespace of the same server keeps its keys.
            _ = try await fixture.redis.send(RedisCommand("DEL", .string(fixture.key("schema")), .string(fixture.key("state"))))
            if leaves { try await fixture.queue.leave("w") } else { _ = try await fixture.queue.beat("w", .ofTest) }
            #expect(try await fixture.cluster.checked().partitions.count == 1)
            #expect(try await fixture.redis.send(RedisCommand("GET", .string(fixture.key("schema")))).asString() == "4/1")
        }
    }

    @Test(
        arguments: [
            (RedisError(.tryAgain), "The keys are those of partition 0 of the namespace 'n'"),
            (RedisError(.unreachable, "Connection refused"), "That part of the cluster has partition 0 of the namespace 'n'"),
            (RedisError(.clusterDown, "Hash slot not served"), "That part of the cluster has partition 0 of the namespace 'n'"),
            (RedisError(.clusterDown, "The cluster is down"), "The whole cluster waits for them"),
        ] as [(RedisError, String)])
    func `a caller that cannot read the schema is told whether its keys move, its server is away, or the whole cluster is`(
        error: RedisError, words: String
    ) {
        let sentences = ["The keys are those of", "That part of the cluster has", "The whole cluster waits"]
        let text = StateError.homeAway(namespace: "n", error).description
        #expect(text.hasPrefix(error.description + " " + words))
        #expect(sentences.filter(text.contains).count == 1)
    }
}
