import GannetTestKit
import Testing

@testable import GannetHTTP

/// The pause that a host asks for with 429 or 503.
@Suite(.serialized, .timeLimit(.minutes(3))) struct EvilPatienceTests {
    @Test(arguments: [(.throttledSeconds, .seconds(7)), (.unavailableSeconds, .seconds(120))] as [(EvilBehaviour, Duration)])
    func `a number of seconds is a pause of as many`(behaviour: EvilBehaviour, wanted: Duration) async throws {
        let bench = try await EvilBench()
        let given = try await bench.retryAfter(behaviour)
        #expect(given == wanted)
    }

    @Test func `a date is a pause until then`() async throws {
        let bench = try await EvilBench()
        let given = try await bench.retryAfter(.throttledDate)
        // A cap is an hour or more.
        #expect(given ?? .zero >= .seconds(3600))
    }

    @Test func `a number beyond all bounds is long, and no crash`() async throws {
        let bench = try await EvilBench()
        let given = try await bench.retryAfter(.throttledForever)
        #expect(given ?? .zero >= .seconds(3600))
    }

    @Test(arguments: [.throttledGarbage, .throttledNegative] as [EvilBehaviour])
    func `a text that is neither asks for no pause`(behaviour: EvilBehaviour) async throws {
        let bench = try await EvilBench()
        #expect(try await bench.retryAfter(behaviour) == nil)
    }

    @Test func `a date that has passed asks for no pause, or for none from now`() async throws {
        let bench = try await EvilBench()
        #expect([nil, .zero].contains(try await bench.retryAfter(.throttledPastDate)))
    }
}
