import BenchmarkKit
import GannetTestKit

/// `curl -Z`, which fetches the same URLs in the same order and counts nothing. It keeps the bodies when there is a folder for them.
struct Curl {
    /// The most that it has in flight.
    static let limit = 300

    /// Its settings and its URLs.
    private let configuration: String
    /// The certificate to trust.
    var authority: String?

    init(_ folder: TemporaryFolder, _ count: Int, into kept: String? = nil, _ url: (Int) -> String) throws {
        configuration = folder.file("curl-\(count)\(kept == nil ? "" : "-kept")")
        try writeFile(configuration, count) { number in
            "url = \"\(url(number))\"\noutput = \"\(kept.map { "\($0)/\(number)" } ?? "/dev/null")\"\n"
        }
    }

    func command(inFlight: Int) -> Command {
        let trust = authority.map { ["--cacert", $0] } ?? []
        return Command(
            "curl",
            ["-q", "-sS", "-f", "--noproxy", "*", "-Z", "--parallel-max", "\(inFlight)"] + trust + ["-K", configuration])
    }

    func run(inFlight: Int) async throws -> (seconds: Double, cpuTime: Duration) {
        let end = try await command(inFlight: inFlight).run()
        return (end.seconds, end.usage.cpuTime)
    }
}
