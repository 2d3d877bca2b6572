import GannetRedisClient
import Synchronization
import Testing

@testable import GannetQueue

@Suite struct PersistenceTests {
    /// A call that fails a number of times before it succeeds.
    private final class Call: Sendable {
        private let count = Atomic(0)
        private let failures: Int
        private let kind: RedisError.Kind

        init(failing failures: Int, with kind: RedisError.Kind) {
            self.failures = failures
            self.kind = kind
        }

        var calls: Int { count.load(ordering: .relaxed) }

        func make() throws(StateError) -> Int {
            let number = count.add(1, ordering: .relaxed).newValue
            if number <= failures { throw .redis(RedisError(kind)) }
            return number
        }
    }

    @Test(arguments: RedisError.Kind.allCases)
    func `a call is tried again after errors that may pass, and after no others`(kind: RedisError.Kind) async throws {
        let call = Call(failing: 2, with: kind)
        let persistently = Persistence(patience: .seconds(60), pause: .zero)
        do throws(StateError) {
            let answer = try await persistently { try call.make() }
            #expect(RedisError(kind).isTransient)
            #expect(answer == 3)
        } catch {
            #expect(!RedisError(kind).isTransient)
            #expect(error == .redis(RedisError(kind)))
            #expect(call.calls == 1)
        }
    }

    @Test func `a call is not tried again after an error of the state`() async throws {
        for error in [StateError.unknownBatch, .batchClosed, .otherSchema(found: "2.0"), .invalid("No.")] {
            let calls = Atomic(0)
            let persistently = Persistence(patience: .seconds(60), pause: .zero)
            let thrown = await #expect(throws: StateError.self) {
                try await persistently {
                    calls.add(1, ordering: .relaxed)
                    throw error
                }
            }
            #expect(thrown == error && calls.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `patience has an end, and the last error is thrown`() async throws {
        let call = Call(failing: .max, with: .unreachable)
        let persistently = Persistence(patience: .milliseconds(20), pause: .milliseconds(1))
        let error = await #expect(throws: StateError.self) {
            try await persistently { try call.make() }
        }
        #expect(error == .redis(RedisError(.unreachable)))
        #expect(call.calls > 1)
    }

    @Test(arguments: [0, 1, 4])
    func `the listener hears once that waiting began, and once that it ended well`(failures: Int) async throws {
        let call = Call(failing: failures, with: .unreachable)
        let news = Mutex<[RedisOutage]>([])
        let persistently = Persistence(patience: .seconds(60), pause: .zero) { outage in news.withLock { $0.append(outage) } }
        _ = try await persistently { try call.make() }
        let began = RedisOutage(RedisError(.unreachable), addition: "; this goes on for up to 60 s")
        #expect(news.withLock { $0 } == (failures == 0 ? [] : [began, .ended]))
    }

    @Test func `without patience the call does not wait, and the listener hears nothing`() async throws {
        let call = Call(failing: 1, with: .unreachable)
        let persistently = Persistence(patience: .zero) { _ in #expect(Bool(false), "it waited") }
        await #expect(throws: StateError.self) { try await persistently { try call.make() } }
        #expect(call.calls == 1)
    }

    @Test func `a cancelled call that ends with what it has is no news of Redis`() async throws {
        let news = Mutex<[RedisOutage]>([])
        let persistently = Persistence(patience: .seconds(60), pause: .zero) { outage in news.withLock { $0.append(outage) } }
        let call = Call(failing: 1, with: .unreachable)
        try await Task {
            _ = try await persistently {
                let answer = try call.make()
                withUnsafeCurrentTask { $0?.cancel() }
                return answer
            }
        }.value
        #expect(news.withLock { $0 } == [RedisOutage(RedisError(.unreachable), addition: "; this goes on for up to 60 s")])
    }

    @Test func `a cancelled caller does not wait for the next attempt`() async throws {
        let persistently = Persistence(patience: .seconds(7200), pause: .seconds(3600))
        let (attempts, attempt) = AsyncStream.makeStream(of: Void.self)
        let task = Task { () async throws in
            try await persistently { () throws(StateError) -> Int in
                attempt.yield()
                throw .redis(RedisError(.unreachable))
            }
        }
        var iterator = attempts.makeAsyncIterator()
        await iterator.next()
        task.cancel()
        let error = await #expect(throws: StateError.self) { try await task.value }
        #expect(error == .redis(RedisError(.cancelled)))
    }
}
