import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// Values that are made from bodies: how often they are made, and how long they are used.
struct ValueTests {
    private let origin = ScriptedOrigin()
    private let makings = Monitor(0)

    private func recipe(_ variant: String = "") -> ValueRecipe<String> {
        ValueRecipe(variant: variant) { [makings] body in
            makings.update { $0 += 1 }
            return variant + String(decoding: body, as: UTF8.self).uppercased()
        }
    }

    private var made: Int { makings.update { $0 } }

    private static let request = AnswerRequest("http://a/")

    @Test func `a hundred callers share one request and one making, and later ones find the value`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        origin.hold()
        let fetch = origin.fetch()
        let callers = (0..<100).map { _ in Task { try await fetch.value(Self.request, recipe()).get() } }
        try await eventually("all wait") { await fetch.valueFetches.subscriberCount == 100 }
        origin.release()
        for caller in callers { #expect(try await caller.value == "ONE") }
        #expect(try await fetch.value(Self.request, recipe()).get() == "ONE")
        #expect(origin.requests.count == 1 && made == 1)
        let statistics = fetch.statistics
        #expect(statistics.valuesMade == 1 && statistics.valueHits == 1 && statistics.values.entries == 1)
    }

    @Test func `transforms that block hold up no other task`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch()
        let door = Condition(false)
        // More than there are threads of any kind.
        let callers = (0..<100).map { number in
            let recipe = ValueRecipe(variant: "\(number)") { [makings] _ in
                makings.update { $0 += 1 }
                return door.wait { $0 ? number : nil }
            }
            return Task { try await fetch.value(Self.request, recipe).get() }
        }
        try await eventually("some are being made") { made >= 4 }
        #expect(await Task.detached { "free" }.value == "free")
        door.withLock { $0 = true }
        door.wakeAll()
        for (number, caller) in callers.enumerated() { #expect(try await caller.value == number) }
        #expect(origin.requests.count == 1 && made == 100)
    }

    @Test func `a confirmed body keeps its value, and another body gets another one`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10"), ("ETag", "\"1\"")),
            ScriptedOrigin.notModified(("Cache-Control", "max-age=10"), ("ETag", "\"1\"")),
            ScriptedOrigin.ok("two", ("Cache-Control", "max-age=10"), ("ETag", "\"2\"")))
        let fetch = origin.fetch()
        for expected in ["ONE", "ONE", "TWO"] {
            #expect(try await fetch.value(Self.request, recipe()).get() == expected)
            origin.passes(.seconds(11))
        }
        #expect(origin.requests.count == 3 && made == 2)
    }

    @Test func `a value needs no body to be used`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch { $0.memory = MemoryCache(MemoryCacheOptions(costLimit: 0)) }
        for _ in 0..<3 { #expect(try await fetch.value(Self.request, recipe()).get() == "ONE") }
        #expect(origin.requests.count == 1 && made == 1)
    }

    @Test func `types and variants are values of their own of one body`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch()
        #expect(try await fetch.value(Self.request, recipe("a")).get() == "aONE")
        #expect(try await fetch.value(Self.request, recipe("b")).get() == "bONE")
        #expect(try await fetch.value(Self.request, recipe("a")).get() == "aONE")
        let count = ValueRecipe<Int>(variant: "a") { $0.count }
        #expect(try await fetch.value(Self.request, count).get() == 3)
        #expect(origin.requests.count == 1 && made == 2)
    }

    @Test func `values may be optional, empty, or of no type known before`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch()
        let optional = ValueRecipe<String?>(variant: "some") { String(decoding: $0, as: UTF8.self) }
        let empty = ValueRecipe<String?>(variant: "none") { _ in nil }
        let nested = ValueRecipe<String??>(variant: "") { _ in .some(nil) }
        let any = ValueRecipe<any Sendable>(variant: "") { $0.count }
        for _ in 0..<2 {
            #expect(try await fetch.value(Self.request, optional).get() == "one")
            #expect(try await fetch.value(Self.request, empty).get() == nil)
            #expect(try await fetch.value(Self.request, nested).get() == .some(nil))
            #expect(try await fetch.value(Self.request, any).get() as? Int == 3)
        }
        #expect(origin.requests.count == 1 && fetch.statistics.valuesMade == 4 && fetch.statistics.valueHits == 4)
    }

    @Test func `a value may be made of other values, however many at once`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch()
        let inner = recipe()
        let outer = { @Sendable (number: Int) in
            ValueRecipe<String>(variant: "outer") { [inner] _ in
                try await fetch.value(AnswerRequest("http://a/inner/\(number % 10)"), inner).get()
            }
        }
        let callers = (0..<100).map { number in Task { await fetch.value(AnswerRequest("http://a/\(number)"), outer(number)) } }
        for caller in callers { #expect(try await caller.value.get() == "ONE") }
        #expect(made == 10)
    }

    @Test func `a new answer that another caller got makes the value new`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")), ScriptedOrigin.ok("two", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch()
        #expect(try await fetch.value(Self.request, recipe()).get() == "ONE")
        _ = try await fetch.text { $0.refresh = true }
        #expect(try await fetch.value(Self.request, recipe()).get() == "TWO")
        #expect(origin.requests.count == 2)
    }

    @Test func `a value goes with its answer: removed, cleared, or forbidden to keep`() async throws {
        let kept = ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10"))
        origin.answers(kept, kept, kept, ScriptedOrigin.ok("one", ("Cache-Control", "no-store")))
        let fetch = origin.fetch()
        _ = try await fetch.value(Self.request, recipe()).get()
        try await fetch.remove(Self.request)
        _ = try await fetch.value(Self.request, recipe()).get()
        await fetch.removeAll()
        _ = try await fetch.value(Self.request, recipe()).get()
        #expect(made == 3)
        _ = try await fetch.text { $0.refresh = true }
        #expect(fetch.statistics.values.entries == 0)
        for _ in 0..<2 { _ = try await fetch.value(Self.request, recipe()).get() }
        #expect(made == 5 && origin.requests.count == 6)
    }

    @Test func `a confirmed answer that may not be kept any more leaves no value`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10"), ("ETag", "\"1\"")),
            ScriptedOrigin.notModified(("Cache-Control", "no-store"), ("ETag", "\"1\"")))
        let fetch = origin.fetch()
        _ = try await fetch.value(Self.request, recipe()).get()
        origin.passes(.seconds(11))
        #expect(try await fetch.value(Self.request, recipe()).get() == "ONE")
        #expect(fetch.statistics.values.entries == 0 && fetch.statistics.revalidations == 1)
    }

    @Test func `when the last caller leaves, the making ends, and the transfer before it`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch()
        let (making, ended) = (Monitor(false), Monitor(false))
        let endless = ValueRecipe<String>(variant: "") { _ in
            making.update { $0 = true }
            do { try await Task.sleep(for: .seconds(3600)) } catch { ended.update { $0 = true } }
            return ""
        }
        let callers = (0..<3).map { _ in Task { await fetch.value(Self.request, endless) } }
        try await making.wait { $0 ? () : nil }
        for caller in callers { caller.cancel() }
        try await ended.wait { $0 ? () : nil }
        for caller in callers {
            let error = await #expect(throws: FetchError.self) { try await caller.value.get() }
            #expect(error?.kind == .cancelled)
        }
        try await eventually("the making has ended") { await fetch.valueFetches.cancel().isEmpty }
        #expect(fetch.statistics.valuesMade == 0 && fetch.statistics.values.entries == 0)
        origin.hold()
        let early = Task { await fetch.value(AnswerRequest("http://a/early"), endless) }
        try await origin.asked(2)
        early.cancel()
        _ = await early.value
        try await eventually("the transfer has ended") { await fetch.waiting == 0 }
    }

    @Test func `a body that makes no value is an error with its reason, and is kept for other values`() async throws {
        struct Unreadable: Error, CustomStringConvertible { let description = "no picture" }
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch()
        let failing = ValueRecipe<String>(variant: "") { _ in throw Unreadable() }
        let error = await #expect(throws: FetchError.self) { try await fetch.value(Self.request, failing).get() }
        #expect(error?.kind == .unexpectedContent && error?.detail == "no picture")
        #expect(try await fetch.value(Self.request, recipe()).get() == "ONE")
        #expect(origin.requests.count == 1)
    }

    @Test func `values share a limit in cost, whose unit is the caller's`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let fetch = origin.fetch { $0.values = MemoryCacheOptions(costLimit: 100_000, countLimit: 100) }
        let large = ValueRecipe<String>(variant: "", cost: { _ in 5000 }, make: { String(decoding: $0, as: UTF8.self) })
        for number in 0..<40 { _ = try await fetch.value(AnswerRequest("http://a/\(number)"), large).get() }
        let values = fetch.statistics.values
        #expect(values.cost <= 100_000 && values.entries < 40 && values.evictions > 0)
        // An entry above an eighth of the limit is not kept.
        let huge = ValueRecipe<String>(variant: "huge", cost: { _ in .max }, make: { String(decoding: $0, as: UTF8.self) })
        _ = try await fetch.value(Self.request, huge).get()
        #expect(fetch.statistics.values.cost <= 100_000)
    }
}
