import GannetTestKit
import HTTPEngine
import Testing

@testable import FetchCache

struct DownloadGateTests {
    private let gate = DownloadGate(places: 1)
    private let log = Monitor<[String]>([])

    /// Somebody inside, who stays until the gate is to be opened for the others.
    private func occupy() async throws -> (Task<Void, Never>, leave: @Sendable () -> Void) {
        let inside = Monitor(false)
        let task = Task {
            _ = await gate.within(FlightPriority(.normal)) {
                log.update { $0.append("first") }
                try? await inside.wait { $0 ? () : nil }
            }
        }
        try await log.wait { $0.isEmpty ? nil : () }
        return (task, { inside.update { $0 = true } })
    }

    private func enter(_ name: String, _ priority: FlightPriority) async -> Task<Void?, Never> {
        let before = gate.waiting
        let task = Task { await gate.within(priority) { log.update { $0.append(name) } } }
        while gate.waiting == before { await Task.yield() }
        return task
    }

    @Test func `who matters more comes in first, and equals in the order they came`() async throws {
        let (first, leave) = try await occupy()
        var tasks: [Task<Void?, Never>] = []
        for (name, priority) in [("low", FetchPriority.low), ("one", .normal), ("two", .normal), ("high", .high)] {
            tasks.append(await enter(name, FlightPriority(priority)))
        }
        leave()
        for task in tasks { #expect(await task.value != nil) }
        await first.value
        #expect(log.update { $0 } == ["first", "high", "one", "two", "low"])
    }

    @Test func `one who comes to matter more while it waits overtakes`() async throws {
        let (first, leave) = try await occupy()
        let raised = FlightPriority(.low)
        var tasks = [
            await enter("normal", FlightPriority(.normal)), await enter("raised", raised), await enter("lowered", FlightPriority(.low)),
        ]
        raised.change(to: .high)
        tasks.append(await enter("last", FlightPriority(.background)))
        leave()
        for task in tasks { #expect(await task.value != nil) }
        await first.value
        #expect(log.update { $0 } == ["first", "raised", "normal", "lowered", "last"])
    }

    @Test func `who is cancelled in the line does not come in and holds up nobody`() async throws {
        let (first, leave) = try await occupy()
        let one = await enter("one", FlightPriority(.normal))
        let two = await enter("two", FlightPriority(.normal))
        one.cancel()
        #expect(await one.value == nil)
        leave()
        #expect(await two.value != nil)
        await first.value
        #expect(log.update { $0 } == ["first", "two"])
        #expect(await gate.within(FlightPriority(.low)) { 1 } == 1)
    }

    @Test func `never more are inside than there are places`() async {
        let gate = DownloadGate(places: 3)
        let inside = Monitor((now: 0, most: 0))
        await withTaskGroup { group in
            for _ in 0..<1000 {
                group.addTask {
                    _ = await gate.within(FlightPriority(.normal)) {
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
