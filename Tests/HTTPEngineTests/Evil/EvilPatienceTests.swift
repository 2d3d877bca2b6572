import GannetTestKit
import Testing

@testable import HTTPEngine

/// How long a host that answers 429 or 503 wants to be left alone.
@Suite(.serialized, .timeLimit(.minutes(1))) struct EvilPatienceTests {
    @Test(arguments: [(.throttledSeconds, .seconds(7)), (.unavailableSeconds, .seconds(120))] as [(EvilBehaviour, Duration)])
    func `seconds are as many`(behaviour: EvilBehaviour, wanted: Duration) async throws {
        let bench = try await EvilBench()
        let given = try await bench.retryAfter(behaviour)
        #expect(given == wanted)
    }

    @Test func `a date is the time until then`() async throws {
        let bench = try await EvilBench()
        let given = try await bench.retryAfter(.throttledDate)
        // Whoever caps it does so at an hour or more.
        #expect(given ?? .zero >= .seconds(3600))
    }

    @Test func `a number beyond all bounds is long, and no crash`() async throws {
        let bench = try await EvilBench()
        let given = try await bench.retryAfter(.throttledForever)
        #expect(given ?? .zero >= .seconds(3600))
    }

    @Test(arguments: [.throttledGarbage, .throttledNegative] as [EvilBehaviour])
    func `what is neither says nothing`(behaviour: EvilBehaviour) async throws {
        let bench = try await EvilBench()
        #expect(try await bench.retryAfter(behaviour) == nil)
    }

    @Test func `a date that has passed says nothing, or now`() async throws {
        let bench = try await EvilBench()
        #expect([nil, .zero].contains(try await bench.retryAfter(.throttledPastDate)))
    }
}
