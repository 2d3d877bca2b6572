import BenchmarkKit
import GannetTestKit

/// `curl -Z`, which fetches the same URLs in the same order and keeps nothing.
struct Curl {
    /// The most that it has in flight.
    static let limit = 300

    /// Its settings and its URLs.
    let configuration: String

    init(_ folder: TemporaryFolder, _ count: Int, _ url: (Int) -> String) throws {
        configuration = folder.file("curl-\(count)")
        try writeFile(configuration, count) { "url = \"\(url($0))\"\noutput = /dev/null\n" }
    }

    func run(inFlight: Int) async throws -> (seconds: Double, cpuTime: Duration) {
        let start = ContinuousClock.now
        let outcome = try await bounded("curl ends", within: .seconds(300)) {
            try await ChildProcess.run(
                .init("curl", ["-q", "-sS", "-f", "--noproxy", "*", "-Z", "--parallel-max", "\(inFlight)", "-K", configuration]))
        }
        guard outcome.status == .exited(0) else { throw KitError("curl ended with \(outcome.status): \(outcome.errors)") }
        return ((ContinuousClock.now - start) / .seconds(1), outcome.usage.cpuTime)
    }
}
