import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Redis has carried out a call whose reply is lost, and the call is made again.
@Suite struct LostReplyTests {
    /// The state without what also changes where nothing is done twice. Every exchange moves the turns of priorities on. A farewell takes a
    /// sample only where the server answers at once.
    private static func lasting(_ fixture: QueueFixture, after call: StateCall) async throws -> StateDump {
        let dump = try await fixture.dump().without(["clock", "sweep"], of: "state")
        return call == .leave ? dump.without(["history"], of: "q:q:queue") : dump
    }

    @Test func `after a lost reply and a repetition the state is as after one call`() async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        server.clock.stop()
        let proxy = try ReplyCuttingProxy(to: server)
        for call in StateCall.allCases {
            let fixture = try await QueueFixture.connect(path: proxy.socketPath, namespace: "lost-\(call)")
            let twin = try await QueueFixture.connect(path: server.socketPath, namespace: "once-\(call)")
            let situation = try await Situation(fixture)
            let twins = try await Situation(twin)
            if call == .resume {
                try await fixture.queue.pause()
                try await twin.queue.pause()
            }
            try await call.make(twin, twins)

            let cuts = proxy.cuts
            if call == .leave {
                // Its first calls count jobs for a sample, and a farewell does without that. Some later reply is that of its own call.
                var error: StateError?
                for passing in 0..<20 where error == nil {
                    proxy.cutNextReply(after: passing)
                    do { try await call.make(fixture, situation) } catch let lost as StateError { error = lost }
                }
                #expect(error?.mayHaveExecuted == true)
                proxy.cutNone()
            } else {
                proxy.cutNextReply()
                let error = await #expect(throws: StateError.self, "\(call)") { try await call.make(fixture, situation) }
                #expect(proxy.cuts == cuts + 1 && error?.mayHaveExecuted == true, "\(call)")
            }
            try await call.make(fixture, situation)

            let (lost, once) = (try await Self.lasting(fixture, after: call), try await Self.lasting(twin, after: call))
            #expect(lost.differences(from: once) == [], "\(call)")
            #expect(try await fixture.queue.counts().crashed == 0, "\(call)")
            if call != .clear {
                // Cancelled jobs lie where they were until an exchange meets them.
                if call != .cancel { try await fixture.expectSound("\(call)") }
                try await situation.finish(fixture, server.clock)
                try await fixture.expectEnded("\(call)")
            }
            await fixture.redis.close()
            await twin.redis.close()
        }
        try await proxy.stop()
        try await server.stop()
    }
}
