import BenchmarkKit
import GannetFetch
import GannetTestKit

/// How long after its last subscriber has left a fetch has its connection closed, as the origin sees it.
enum Departures {
    private static let subscribers = 1000

    static func measure(isQuick: Bool) async throws {
        let rounds = isQuick ? 10 : 100
        let server = try HostileServer(.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"), .silence)
        let fetcher = try Fetcher(FetcherOptions { $0.allowedNetworks = ["all"] })
        let request = FetchRequest("http://127.0.0.1:\(server.port)/")
        var times: [Double] = []
        for round in 1...rounds {
            let callers = (0..<subscribers).map { _ in Task { try? await fetcher.data(for: request) } }
            try await server.accepted(round)
            for caller in callers.dropFirst() { caller.cancel() }
            for caller in callers.dropFirst() { _ = await caller.value }
            guard server.connections == round else { throw KitError("the transfer did not outlast those who left") }
            let start = ContinuousClock.now
            callers[0].cancel()
            try await server.ended(round)
            times.append((ContinuousClock.now - start) / .microseconds(1))
        }
        table(
            "From the last of \(grouped(subscribers)) cancellations to the closed connection at the origin", "rounds", "p50", "p99",
            "longest")
        row(grouped(rounds), time(times.percentile(0.5)), time(times.percentile(0.99)), time(times.max() ?? 0))
        await fetcher.close()
        try await server.stop()
    }
}
