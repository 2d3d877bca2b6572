import GannetTestKit
import Testing

@testable import GannetHTTP

/// Connections that are kept, or only seem to be.
@Suite(.timeLimit(.minutes(5))) struct EvilConnectionTests {
    @Test(arguments: [.closesOnSecondRequest, .resetsOnSecondRequest, .closesWhenIdle] as [EvilBehaviour])
    func `a kept connection that ends as the next request comes costs nothing but a new connection`(
        behaviour: EvilBehaviour
    ) async throws {
        let bench = try await EvilBench()
        let before = bench.origin.count(behaviour)
        for _ in 0..<3 { #expect(try await bench.fetch(behaviour) == .gives("hello")) }
        let after = bench.origin.count(behaviour)
        #expect(after.connections - before.connections == 3)
    }

    @Test func `good answers share a connection`() async throws {
        let bench = try await EvilBench()
        let before = bench.origin.count(.good)
        for _ in 0..<3 { #expect(try await bench.fetch(.good) == .gives(EvilBench.good)) }
        let after = bench.origin.count(.good)
        #expect(after.connections - before.connections == 1)
        #expect(after.requests - before.requests == 3)
    }

    @Test func `attempts to connect that were given up cost later fetches no connection`() async throws {
        let bench = try await EvilBench {
            $0.connectTimeout = .seconds(1)
            // As many attempts as these would fill the engine's connections.
            $0.maximumInFlight = 1
        }
        for _ in 0..<3 { #expect(try await bench.fetch(.neverAccepts) == .fails(.timeout(.connect))) }
        let before = bench.origin.count(.good)
        for _ in 0..<3 { #expect(try await bench.fetch(.good) == .gives(EvilBench.good)) }
        let after = bench.origin.count(.good)
        #expect(after.connections - before.connections == 1)
    }

    @Test func `a connection on which a stream was never answered is not asked again`() async throws {
        let bench = try await EvilBench()
        let before = bench.origin.count(.http2Silent)
        for _ in 0..<2 { #expect(try await bench.fetch(.http2Silent) == .fails(.timeout(.response))) }
        let after = bench.origin.count(.http2Silent)
        withKnownIssue("A connection that has gone dead swallows every further request to its host.") {
            #expect(after.connections - before.connections == 2)
        }
    }

    @Test func `a server that refuses the only stream of each HTTP/2 connection is asked three times and no more`() async throws {
        let bench = try await EvilBench()
        let before = bench.origin.count(.http2GoAway)
        #expect(try await bench.fetch(.http2GoAway) == .fails(.reset))
        let after = bench.origin.count(.http2GoAway)
        #expect(after.connections - before.connections == 3)
    }

    @Test(arguments: [.closesAfterRequest, .resetsAfterRequest] as [EvilBehaviour])
    func `a new connection that ends without an answer fails only its own request`(behaviour: EvilBehaviour) async throws {
        let bench = try await EvilBench()
        let before = bench.origin.count(behaviour)
        #expect(try await bench.fetch(behaviour) == .fails(.reset))
        let after = bench.origin.count(behaviour)
        #expect(after.connections - before.connections == 1)
    }

    @Test func `a body slower than permitted is given up before the whole time is over`() async throws {
        let bench = try await EvilBench {
            $0.timeout = .seconds(30)
            $0.minimumSpeedWindow = .seconds(3)
        }
        #expect(try await bench.fetch(.oneByteASecond) == .fails(.tooSlow))
    }

    @Test func `plain HTTP to a port that speaks TLS fails, and not as the engine's fault`() async throws {
        let bench = try await EvilBench()
        let port = bench.origin.port(of: .cutWithoutFarewell)
        let outcome = try await bench.fetch("http://127.0.0.1:\(port)/good")
        #expect(outcome.isOne(of: [.fails(.protocolError), .fails(.reset)]), "\(outcome)")
    }

    @Test func `an engine that is stopped lets go at once of servers that never would`() async throws {
        let bench = try await EvilBench { $0.bePatient(for: .seconds(60)) }
        let patient: [EvilBehaviour] = [
            .neverAnswers, .oneByteASecond, .oneHeaderASecond, .stallsInChunk, .silentHandshake, .http2Silent, .slowInformationals,
        ]
        let outcomes = try await bench.during(patient) {}
        #expect(outcomes.allSatisfy { $0 == .fails(.cancelled) }, "\(outcomes)")
        for behaviour in patient { try await bench.origin.wait(for: behaviour) { $0.running == 0 } }
        #expect(try bench.folder.files == [])
    }

    @Test func `floods leave the engine time for good fetches`() async throws {
        // Not the bench's own patience: a busy machine gives neither side much of its time, and starvation lasts.
        let bench = try await EvilBench {
            $0.maximumBody = 1_000_000_000_000
            $0.bePatient(for: .seconds(20))
        }
        let floods: [EvilBehaviour] = [.endlessBody, .endlessChunks, .endlessTinyChunks, .endlessExtensions, .gzipOfNothing]
        _ = try await bench.during(floods) { () async throws in
            for number in 0..<10 {
                let outcome = try await bench.fetch(.good)
                #expect(outcome == .gives(EvilBench.good), "the fetch \(number) came to \(outcome)")
            }
        }
    }
}
