import Testing

@testable import GannetRedisClient

@Suite struct HashSlotTests {
    /// The values are those of `CLUSTER KEYSLOT`.
    @Test(arguments: [
        ("123456789", 12739), ("", 0), ("foo", 12182), ("{user1000}.following", 3443), ("{user1000}.followers", 3443), ("foo{}{bar}", 8363),
        ("foo{{bar}}zap", 4015), ("foo{bar}{zap}", 5061), ("{", 4092), ("a}b{c", 13587),
    ])
    func `a key's slot is that of the text in its first braces`(key: String, slot: Int) {
        #expect(HashSlot(of: key.utf8).number == slot)
    }

    @Test func `a command goes where its first key is, and a command without a key goes anywhere`() {
        let slot = HashSlot(of: "key".utf8)
        #expect(RedisCommand("GET", "key").slot == slot)
        #expect(RedisCommand("SPUBLISH", "key", "text").slot == slot)
        #expect(RedisCommand(script: RedisScript("return 1"), keys: ["key", "other"], arguments: ["word"]).slot == slot)
        #expect(RedisCommand(script: RedisScript("return 1"), keys: [], arguments: ["word"]).slot == nil)
        for command in [
            RedisCommand("TIME"), RedisCommand("SCAN", 0), RedisCommand("INFO", "server"), RedisCommand("PUBLISH", "channel", "text"),
        ] {
            #expect(command.slot == nil, "\(command)")
        }
    }
}
