import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(1))) struct FileThreadsTests {
    private static func threads(_ count: Int = 4, reads: Int = 100, writes: Int = 100) -> FileThreads {
        FileThreads(.init(threads: count, reads: reads, writes: writes, bytes: 1000))
    }

    private static func value<Value>(_ outcome: FileThreads.Outcome<Value>) -> Value? {
        if case .done(let value) = outcome { value } else { nil }
    }

    @Test func `many jobs of many tasks are all done, each once`() async {
        let threads = Self.threads(reads: .max, writes: .max)
        let done = Condition(0)
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let outcome = await threads.run(number % 3 == 0 ? .writes : .reads) { _ in
                        done.withLock { $0 += 1 }
                        return number
                    }
                    return Self.value(outcome) ?? 0
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 1999 * 1000 && done.withLock { $0 } == 2000)
    }

    @Test func `slow writes do not hold up a read`() async throws {
        let threads = Self.threads()
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = await threads.run(.writes) { _ in gate.pass() } } }
            try await gate.holds(3)
            #expect(Self.value(await threads.run(.reads) { _ in 1 }) == 1)
            gate.open()
            try await group.waitForAll()
        }
    }

    @Test func `a cancelled caller leaves at once, even if the disk hangs`() async throws {
        let threads = Self.threads(1)
        let gate = Gate()
        let sawCallerGo = Condition(false)
        let running = Task {
            await threads.run(.writes) { caller in
                gate.pass()
                let isGone = caller.isGone
                sawCallerGo.withLock { $0 = isGone }
                sawCallerGo.wakeAll()
            }
        }
        try await gate.holds(1)
        let hasRun = Condition(false)
        let waiting = Task { await threads.run(.writes, bytes: 1000) { _ in hasRun.withLock { $0 = true } } }
        for task in [running, waiting] {
            task.cancel()
            guard case .left = await task.value else { throw KitError("it has not left") }
        }
        gate.open()
        await OwnedThread.run(name: "test") { sawCallerGo.wait { $0 ? () : nil } }
        #expect(Self.value(await threads.run(.writes, bytes: 1000) { _ in 7 }) == 7)
        #expect(hasRun.withLock { $0 } == false)

        let never = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await threads.run(.reads) { _ in 1 }
        }
        guard case .left = await never.value else { throw KitError("it was cancelled before") }
    }

    @Test func `when too many wait the next is refused, unless it has to wait`() async throws {
        let threads = Self.threads(1, writes: 1)
        let gate = Gate()
        async let first: Void = { _ = await threads.run(.writes) { _ in gate.pass() } }()
        try await gate.holds(1)
        try await withThrowingTaskGroup(of: FileThreads.Outcome<Int>.self) { group in
            for number in 0..<3 { group.addTask { await threads.run(.writes) { _ in number } } }
            // One of them has the one place there is, and keeps it.
            for _ in 0..<2 {
                guard case .refused = try #require(try await group.next()) else { throw KitError("it was not refused") }
            }
            for number in 10..<13 { group.addTask { await threads.run(.writes, mayBeRefused: false) { _ in number } } }
            gate.open()
            let values = try await group.reduce(into: []) { values, outcome in values.append(Self.value(outcome)) }
            #expect(values.count == 4 && Set(values).isSuperset(of: [10, 11, 12]) && !values.contains(nil))
        }
        await first
    }
}
