import GannetTestKit
import HTTPEngine
import Testing

@testable import FetchCache

struct InFlightTests {
    private let flights = InFlight<String, Int>()

    @Test func `ten thousand who ask at once make one fetch`() async throws {
        let work = HeldWork()
        let callers = (0..<10_000).map { _ in Task { await flights.outcome(for: "a", priority: .normal, work.fetch) } }
        try await work.started()
        await flights.waits(for: 10_000)
        work.finish(.success(7))
        for caller in callers { #expect(await caller.value == .success(7)) }
        #expect(work.starts == 1)
        #expect(await flights.count == 0)
    }

    @Test func `a failure is everybody's, and nobody's afterwards`() async throws {
        let failure = FetchError(kind: .connect, url: "http://a/")
        for round in 1...2 {
            let outcome = await flights.outcome(for: "a", priority: .normal) { _ in round == 1 ? .failure(failure) : .success(round) }
            #expect(outcome == (round == 1 ? .failure(failure) : .success(2)))
        }
    }

    @Test func `those who are cancelled leave at once, and the fetch goes on for the last one`() async throws {
        let work = HeldWork()
        let callers = (0..<1000).map { _ in Task { await flights.outcome(for: "a", priority: .normal, work.fetch) } }
        try await work.started()
        await flights.waits(for: 1000)
        for caller in callers.dropFirst() { caller.cancel() }
        for caller in callers.dropFirst() { #expect(await caller.value == nil) }
        #expect(!work.isCancelled)
        work.finish(.success(1))
        #expect(await callers[0].value == .success(1))
    }

    @Test func `when the last one leaves the fetch is cancelled, and the next starts another`() async throws {
        let work = HeldWork()
        let caller = Task { await flights.outcome(for: "a", priority: .normal, work.fetch) }
        try await work.started()
        caller.cancel()
        #expect(await caller.value == nil)
        try await work.cancelled()
        #expect(await flights.outcome(for: "a", priority: .normal) { _ in .success(2) } == .success(2))
    }

    @Test func `a cancelled key answers all who wait for it`() async throws {
        let work = HeldWork()
        let callers = (0..<3).map { _ in Task { await flights.outcome(for: "a", priority: .normal, work.fetch) } }
        await flights.waits(for: 3)
        let tasks = await flights.cancel { $0 == "a" }
        #expect(tasks.count == 1)
        for caller in callers { #expect(await caller.value == nil) }
        try await work.cancelled()
        for task in tasks { await task.value }
        #expect(await flights.cancel { $0 == "a" }.isEmpty)
    }

    @Test func `whoever calls all off is told of the fetch that its last caller has just left, until it has ended`() async throws {
        let work = HeldWork()
        let end = HeldWork()
        let priority = FlightPriority(.normal)
        let caller = Task {
            await flights.outcome(for: "a", priority: .normal) { _ in
                _ = await work.fetch(priority)
                // What it holds is given up, whatever its task has come to.
                return await Task { await end.fetch(priority) }.value
            }
        }
        try await work.started()
        caller.cancel()
        #expect(await caller.value == nil)
        let tasks = await flights.cancel()
        #expect(tasks.count == 1)
        end.finish(.success(1))
        for task in tasks { await task.value }
        #expect(await flights.cancel().isEmpty)
    }

    @Test func `who is cancelled before asking starts nothing`() async throws {
        let work = HeldWork()
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await flights.outcome(for: "a", priority: .normal, work.fetch)
        }
        #expect(await caller.value == nil)
        #expect(work.starts == 0)
    }

    @Test func `a flight is told when somebody more important joins and leaves`() async throws {
        let work = HeldWork()
        let low = Task { await flights.outcome(for: "a", priority: .low, work.fetch) }
        try await work.started()
        let high = Task { await flights.outcome(for: "a", priority: .high, work.fetch) }
        await flights.waits(for: 2)
        #expect(work.priority == .high)
        high.cancel()
        _ = await high.value
        #expect(work.priority == .low)
        work.finish(.success(1))
        #expect(await low.value == .success(1))
    }
}
