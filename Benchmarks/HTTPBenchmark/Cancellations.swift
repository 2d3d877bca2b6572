import BenchmarkKit
import GannetHTTP
import GannetTestKit

/// How long after a cancellation the origin sees its connection closed.
enum Cancellations {
    static func measure(isQuick: Bool) async throws {
        let count = isQuick ? 50 : 1000
        let server = try HostileServer(.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"), .silence)
        var options = FetchSettings()
        options.allowedNetworks = ["all"]
        let engine = try CurlDownloader(options)
        let request = DownloadRequest(
            url: "http://127.0.0.1:\(server.port)/", body: .memory(upTo: 1000, thenFileIn: "/dev/null"))
        var times: [Double] = []
        for number in 1...count {
            let task = Task { try? await engine.download(request) }
            try await server.accepted(number)
            let start = ContinuousClock.now
            task.cancel()
            try await server.ended(number)
            times.append((ContinuousClock.now - start) / .microseconds(1))
        }
        table("From a cancellation to the closed connection at the origin", "cancelled", "p50", "p99", "longest")
        row(grouped(count), time(times.percentile(0.5)), time(times.percentile(0.99)), time(times.max() ?? 0))
        engine.shutdown()
        try await server.stop()
    }
}
