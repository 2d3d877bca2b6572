import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

struct SharedFetchesTests {
    private let fetches = SharedFetches<String, Int>()

    @Test func `ten thousand callers at once make one fetch`() async throws {
        let work = HeldWork()
        let callers = (0..<10_000).map { _ in Task { await fetches.outcome(for: "a", Caller(.normal), work.fetch) } }
        try await work.started()
        try await fetches.waits(for: 10_000)
        work.finish(.success(7))
        for caller in callers { #expect(await caller.value == .success(7)) }
        #expect(work.starts == 1)
        #expect(await fetches.count == 0)
    }

    @Test func `a failure goes to all callers that wait, and to no later ones`() async throws {
        let failure = FetchError(kind: .connect, url: "http://a/")
        for round in 1...2 {
            let outcome = await fetches.outcome(for: "a", Caller(.normal)) { _ in round == 1 ? .failure(failure) : .success(round) }
            #expect(outcome == (round == 1 ? .failure(failure) : .success(2)))
        }
    }

    @Test func `cancelled callers leave at once, and the fetch goes on for the last one`() async throws {
        let work = HeldWork()
        let callers = (0..<1000).map { _ in Task { await fetches.outcome(for: "a", Caller(.normal), work.fetch) } }
        try await work.started()
        try await fetches.waits(for: 1000)
        for caller in callers.dropFirst() { caller.cancel() }
        for caller in callers.dropFirst() { #expect(await caller.value == nil) }
        #expect(!work.isCancelled)
        work.finish(.success(1))
        #expect(await callers[0].value == .success(1))
    }

    @Test func `when the last caller leaves the fetch is cancelled, and the next caller starts another`() async throws {
        let work = HeldWork()
        let caller = Task { await fetches.outcome(for: "a", Caller(.normal), work.fetch) }
        try await work.started()
        caller.cancel()
        #expect(await caller.value == nil)
        try await work.cancelled()
        #expect(await fetches.outcome(for: "a", Caller(.normal)) { _ in .success(2) } == .success(2))
    }

    @Test func `a fetch that its callers have left goes on while another process wants it`() async throws {
        let pauses = Monitor(0)
        let fetches = SharedFetches<String, Int>(sleep: { _ in
            pauses.update { $0 += 1 }
            try await Task.sleep(for: .milliseconds(1))
        })
        let (work, isWanted) = (HeldWork(), SharedFlag())
        isWanted.set()
        let fetch: SharedFetches<String, Int>.Fetch = { shared in
            shared.elsewhere.ask { isWanted.isSet }
            return await work.fetch(shared)
        }
        let caller = Task { await fetches.outcome(for: "a", Caller(.normal), fetch) }
        try await work.started()
        caller.cancel()
        #expect(await caller.value == nil)
        // It was asked several times, and a late caller joins what is under way.
        try await pauses.wait { $0 > 2 ? () : nil }
        let late = Task { await fetches.outcome(for: "a", Caller(.normal), fetch) }
        try await fetches.waits(for: 1)
        isWanted.set(false)
        late.cancel()
        #expect(await late.value == nil)
        try await work.cancelled()
        #expect(work.starts == 1)
        #expect(await fetches.count == 0)
    }

    @Test func `a cancelled key answers all its callers`() async throws {
        let work = HeldWork()
        let callers = (0..<3).map { _ in Task { await fetches.outcome(for: "a", Caller(.normal), work.fetch) } }
        try await fetches.waits(for: 3)
        let tasks = await fetches.cancel { $0 == "a" }
        #expect(tasks.count == 1)
        for caller in callers { #expect(await caller.value == nil) }
        try await work.cancelled()
        for task in tasks { await task.value }
        #expect(await fetches.cancel { $0 == "a" }.isEmpty)
    }

    @Test func `cancelling all returns also a fetch that its last caller has just left, until it has ended`() async throws {
        let work = HeldWork()
        let end = HeldWork()
        let inner = SharedWork(.normal)
        let caller = Task {
            await fetches.outcome(for: "a", Caller(.normal)) { _ in
                _ = await work.fetch(inner)
                // The fetch gives up its resources although its task is cancelled.
                return await Task { await end.fetch(inner) }.value
            }
        }
        try await work.started()
        caller.cancel()
        #expect(await caller.value == nil)
        let tasks = await fetches.cancel()
        #expect(tasks.count == 1)
        end.finish(.success(1))
        for task in tasks { await task.value }
        #expect(await fetches.cancel().isEmpty)
    }

    @Test func `a caller that is cancelled before asking starts nothing`() async throws {
        let work = HeldWork()
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await fetches.outcome(for: "a", Caller(.normal), work.fetch)
        }
        #expect(await caller.value == nil)
        #expect(work.starts == 0)
    }

    @Test func `a fetch learns when a more important caller joins and leaves`() async throws {
        let work = HeldWork()
        let low = Task { await fetches.outcome(for: "a", Caller(.low), work.fetch) }
        try await work.started()
        let high = Task { await fetches.outcome(for: "a", Caller(.high), work.fetch) }
        try await fetches.waits(for: 2)
        #expect(work.priority == .high)
        high.cancel()
        _ = await high.value
        #expect(work.priority == .low)
        work.finish(.success(1))
        #expect(await low.value == .success(1))
    }

    @Test func `a caller that becomes more important while it waits makes the fetch so, and progress reaches all who listen`() async throws
    {
        let work = HeldWork()
        let heard = Monitor<[FetchProgress]>([])
        let priority = ChangingPriority(.background)
        let caller = Caller(priority) { progress in heard.update { $0.append(progress) } }
        let relay = Monitor<Relay<FetchProgress>?>(nil)
        let task = Task {
            await fetches.outcome(for: "a", caller) { shared in
                relay.update { $0 = shared.progress }
                return await work.fetch(shared)
            }
        }
        try await work.started()
        #expect(work.priority == .background)
        priority.change(to: .high)
        try await eventually("the fetch has the new priority") { work.priority == .high }
        relay.update { $0 }?.report(FetchProgress(received: 1, expected: 2))
        #expect(heard.update { $0 } == [FetchProgress(received: 1, expected: 2)])
        work.finish(.success(1))
        #expect(await task.value == .success(1))
    }
}
