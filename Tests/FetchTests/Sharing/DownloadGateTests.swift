import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

struct DownloadGateTests {
    private let gate = DownloadGate(places: 1)
    private let log = Monitor<[String]>([])

    /// A task inside that stays until `leave` is called.
    private func occupy() async throws -> (Task<Void, Never>, leave: @Sendable () -> Void) {
        let inside = Monitor(false)
        let task = Task {
            _ = await gate.within(ChangingPriority(.normal)) {
                log.update { $0.append("first") }
                try? await inside.wait { $0 ? () : nil }
            }
        }
        try await log.wait { $0.isEmpty ? nil : () }
        return (task, { inside.update { $0 = true } })
    }

    private func enter(_ name: String, _ priority: ChangingPriority) async throws -> Task<Void?, Never> {
        let before = gate.waiting
        let task = Task { await gate.within(priority) { log.update { $0.append(name) } } }
        try await eventually("\(name) waits") { gate.waiting > before }
        return task
    }

    @Test func `a higher priority comes in first, and equal ones in the order they came`() async throws {
        let (first, leave) = try await occupy()
        var tasks: [Task<Void?, Never>] = []
        for (name, priority) in [("low", FetchPriority.low), ("one", .normal), ("two", .normal), ("high", .high)] {
            tasks.append(try await enter(name, ChangingPriority(priority)))
        }
        leave()
        for task in tasks { #expect(await task.value != nil) }
        await first.value
        #expect(log.update { $0 } == ["first", "high", "one", "two", "low"])
    }

    @Test func `a waiter whose priority rises overtakes others`() async throws {
        let (first, leave) = try await occupy()
        let raised = ChangingPriority(.low)
        var tasks = [
            try await enter("normal", ChangingPriority(.normal)), try await enter("raised", raised),
            try await enter("lowered", ChangingPriority(.low)),
        ]
        raised.change(to: .high)
        tasks.append(try await enter("last", ChangingPriority(.background)))
        leave()
        for task in tasks { #expect(await task.value != nil) }
        await first.value
        #expect(log.update { $0 } == ["first", "raised", "normal", "lowered", "last"])
    }

    @Test func `a waiter that is cancelled does not come in, and blocks no other`() async throws {
        let (first, leave) = try await occupy()
        let one = try await enter("one", ChangingPriority(.normal))
        let two = try await enter("two", ChangingPriority(.normal))
        one.cancel()
        #expect(await one.value == nil)
        leave()
        #expect(await two.value != nil)
        await first.value
        #expect(log.update { $0 } == ["first", "two"])
        #expect(await gate.within(ChangingPriority(.low)) { 1 } == 1)
    }

    @Test func `there are never more inside than places`() async {
        let gate = DownloadGate(places: 3)
        let inside = Monitor((now: 0, most: 0))
        await withTaskGroup { group in
            for _ in 0..<1000 {
                group.addTask {
                    _ = await gate.within(ChangingPriority(.normal)) {
                        inside.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        await Task.yield()
                        inside.update { $0.now -= 1 }
                    }
                }
            }
        }
        #expect(inside.update { $0.most } == 3)
        #expect(inside.update { $0.now } == 0)
    }
}

extension DownloadGate {
    /// Runs `body` when there is a place for it. Returns `nil` when the task is cancelled before.
    fileprivate func within<Value: Sendable>(_ priority: ChangingPriority, _ body: () async -> Value) async -> Value? {
        guard await enter(priority) else { return nil }
        defer { leave() }
        return await body()
    }
}
