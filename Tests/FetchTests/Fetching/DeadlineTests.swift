import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// Callers with a time for their call as a whole. A test says when the time is over.
struct DeadlineTests {
    private struct Clock: Sendable {
        var asked: [Duration] = []
        var isOver = false
        var cancelled = 0
    }

    private let origin = ScriptedOrigin()
    private let clock = Monitor(Clock())
    private static let hurried = Caller(ChangingPriority(.normal), deadline: .seconds(2))
    private static let request = AnswerRequest("http://a/")

    private func fetch(_ change: (inout CachingFetch.Parts) -> Void = { _ in }) -> CachingFetch {
        origin.fetch {
            $0.sleep = { [clock] time in
                clock.update { $0.asked.append(time) }
                // Pauses between attempts, which are shorter here than any deadline, do not end.
                do {
                    try await clock.wait { time >= .seconds(2) && $0.isOver ? () : nil }
                } catch {
                    clock.update { $0.cancelled += 1 }
                    throw error
                }
            }
            change(&$0)
        }
    }

    private func expectTimeout<Value>(_ result: Result<Value, FetchError>) {
        let error = #expect(throws: FetchError.self) { _ = try result.get() }
        #expect(error?.kind == .timeout(.deadline) && error?.isRetryable == true)
        #expect(error?.description == "Timed out at the deadline of the request (http://a/): not done within 2.0 seconds.")
    }

    @Test func `a caller leaves at its deadline, and the transfer goes on for the others`() async throws {
        origin.answers(ScriptedOrigin.ok("one"))
        origin.hold()
        let fetch = fetch()
        let hurried = Task { await fetch.serve(Self.request, Self.hurried) }
        let other = Task { try await fetch.text() }
        try await eventually("both wait") { await fetch.waiting == 2 }
        clock.update { $0.isOver = true }
        try await eventually("one has left") { await fetch.waiting == 1 }
        origin.release()
        expectTimeout(await hurried.value)
        #expect(try await other.value == "one from network")
        #expect(origin.requests.count == 1)
    }

    @Test func `the deadline of the last caller ends the transfer, and the pauses before further attempts`() async throws {
        origin.answers(ScriptedOrigin.failure(.reset))
        let fetch = fetch { $0.retries.most = 9 }
        let hurried = Task { await fetch.serve(Self.request, Self.hurried) }
        try await clock.wait { $0.asked.count == 2 ? () : nil }
        clock.update { $0.isOver = true }
        try await eventually("it has left") { await fetch.waiting == 0 }
        expectTimeout(await hurried.value)
        try await clock.wait { $0.cancelled == 1 ? () : nil }
        #expect(origin.requests.count == 1)
    }

    @Test func `a deadline counts for the making of a value too, and is its caller's alone`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = fetch()
        let (isMaking, mayEnd) = (Monitor(false), Monitor(false))
        let recipe = ValueRecipe<Int>(variant: "") { body in
            isMaking.update { $0 = true }
            try await mayEnd.wait { $0 ? () : nil }
            return body.count
        }
        let hurried = Task { await fetch.value(Self.request, recipe, Self.hurried) }
        try await isMaking.wait { $0 ? () : nil }
        let other = Task { await fetch.value(Self.request, recipe) }
        try await eventually("both wait") { await fetch.valueFetches.subscriberCount == 2 }
        clock.update { $0.isOver = true }
        try await eventually("one has left") { await fetch.valueFetches.subscriberCount == 1 }
        mayEnd.update { $0 = true }
        expectTimeout(await hurried.value)
        #expect(try await other.value.get() == 3)
    }

    @Test func `an answer in memory needs no time, and an answer in time ends the wait`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = fetch()
        _ = try await fetch.serve(Self.request, Self.hurried).get()
        try await clock.wait { $0.cancelled == 1 ? () : nil }
        clock.update { $0.isOver = true }
        #expect(try await fetch.serve(Self.request, Self.hurried).get().source == .memory)
        #expect(clock.update { $0.asked } == [.seconds(2)])
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max), .seconds(Int64.min)])
    func `a deadline may have any length`(_ time: Duration) async throws {
        origin.answers(ScriptedOrigin.ok("one"))
        if time <= .zero { origin.hold() }
        let fetch = origin.fetch()
        let result = await fetch.serve(Self.request, Caller(ChangingPriority(.normal), deadline: time))
        switch result {
        case .success: #expect(time > .zero)
        case .failure(let error): #expect(time <= .zero && error.kind == .timeout(.deadline))
        }
    }
}
