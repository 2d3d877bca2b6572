import BenchmarkKit
import GannetHTTP
import GannetTestKit

// `Scripts/bench http [--quick] [speed|hosts|cancel]`: our engine beside wrk (h2load for HTTP/2) and `curl -Z` on the same nginx, in turn. Prints tables in Markdown;
// Benchmarks/RESULTS.md holds them.

let arguments = CommandLine.arguments.dropFirst()
let words = Array(arguments)
switch words.first {
case "client":
    try await Client.run(
        url: words[1], inFlight: Int(words[2]) ?? 1, seconds: Double(words[3]) ?? 1, authority: words.count > 4 ? words[4] : nil)
case "names":
    try await Names.run(server: words[1], port: words[2], count: Int(words[3]) ?? 0, withDead: words[4] == "1")
default:
    let isQuick = words.contains("--quick")
    let parts = words.filter { !$0.hasPrefix("-") }
    if parts.isEmpty || parts.contains("speed") { try await compareAll(isQuick: isQuick) }
    if parts.isEmpty || parts.contains("hosts") { try await Names.compare(isQuick: isQuick) }
    if parts.isEmpty || parts.contains("cancel") { try await Cancellations.measure(isQuick: isQuick) }
}

func compareAll(isQuick: Bool) async throws {
    let folder = try TemporaryFolder()
    let server = try await Server.start(folder)
    let seconds = isQuick ? 1.0 : 2.0
    let rounds = isQuick ? 1 : 5
    let command = "`Scripts/bench http\(isQuick ? " --quick" : "")`"
    print("\(command), \(Machine.description), one nginx worker on loopback; medians of \(rounds) rounds, all in each round.")
    print("CPU is the client's processor time for one request, memory the most its process ever had.")
    print("Behind each median are the lowest and the highest.")
    print("`wrk` and `h2load` look at nothing. `curl -Z` keeps nothing, and has 300 in flight at most.")
    for isSecure in [false, true] {
        let peer = isSecure ? "h2load" : "wrk"
        table(
            isSecure ? "HTTP/2 over TLS" : "HTTP/1.1", "body", "in flight", "gannet", "CPU", "memory", peer, "CPU", "curl -Z", "CPU",
            "memory",
            "gannet / \(peer)", "gannet / curl -Z")
        for size in ["1k", "10k", "1m"] {
            for inFlight in [16, 64, 512, 2048] {
                let url = server.url(size, isSecure: isSecure)
                var runs: [(Run, Run, Run)] = []
                for _ in 0..<rounds {
                    let authority = isSecure ? server.authority : nil
                    let ours = try await Client.measure(url, inFlight: inFlight, seconds: seconds, authority: authority)
                    let limit =
                        isSecure
                        ? try await Peers.h2load(url, inFlight: inFlight, seconds: seconds, rate: ours.perSecond)
                        : try await Peers.wrk(url, inFlight: inFlight, seconds: seconds)
                    let curl = try await Peers.curl(
                        url, inFlight: inFlight, seconds: seconds, rate: ours.perSecond / 2, authority: authority)
                    runs.append((ours, limit, curl))
                }
                row(
                    size, grouped(inFlight), rates(runs.map(\.0.perSecond)), time(runs.map(\.0.cpuMicroseconds).median),
                    "\(Int(runs.map(\.0.peakMegabytes).median)) MB", rates(runs.map(\.1.perSecond)),
                    time(runs.map(\.1.cpuMicroseconds).median), rates(runs.map(\.2.perSecond)),
                    time(runs.map(\.2.cpuMicroseconds).median), "\(Int(runs.map(\.2.peakMegabytes).median)) MB",
                    hundredths(runs.map { $0.0.perSecond / $0.1.perSecond }.median),
                    hundredths(runs.map { $0.0.perSecond / $0.2.perSecond }.median))
            }
        }
    }
    try await server.origin.stop()
}
