import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct EventuallyTests {
    @Test func `a wait in vain ends with a sentence that names its place and the missing change`() async {
        var looks = 0
        let error = await #expect(throws: KitError.self) {
            try await eventually("there are no more than \(looks - 1) looks", within: .milliseconds(20)) {
                looks += 1
                return false
            }
        }
        let sentence = error?.description ?? ""
        #expect(sentence.hasPrefix("TestKitTests/EventuallyTests.swift:"), "\(sentence)")
        #expect(looks > 1 && sentence.hasSuffix("in vain for this: there are no more than \(looks - 1) looks"), "\(sentence)")
    }

    @Test func `a command that a script makes is a sign, and a server that ends is none`() async throws {
        let server = try await RedisServer.start()
        let watch = try await server.watch()
        try await server.command("EVAL", "return redis.call('SET', KEYS[1], 'x')", "1", "{a}b")
        try await watch.saw("\"SET\"", "\"{a}b\"")
        try await server.stop()
        let error = await #expect(throws: KitError.self) { try await watch.saw("\"GET\"") }
        #expect(error?.description == "the server ended before this: Redis carries out a command with \"GET\"")
    }
}
