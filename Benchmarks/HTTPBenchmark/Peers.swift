import BenchmarkKit
import GannetTestKit

/// Programs that fetch the same from the same server.
enum Peers {
    /// `wrk`: what the server can give to a client that looks at nothing. HTTP/1.1 only.
    static func wrk(_ url: String, inFlight: Int, seconds: Double) async throws -> Run {
        try await counted {
            let whole = max(1, Int(seconds.rounded()))
            let output = try await ChildProcess.succeed("wrk", ["-t", "1", "-c", "\(inFlight)", "-d", "\(whole)s", url])
            let rate = try number(after: "Requests/sec:", in: output)
            return (rate, rate * Double(whole))
        }
    }

    /// `h2load`: the same for HTTP/2, in connections of at most 100 streams as our engine makes them.
    static func h2load(_ url: String, inFlight: Int, seconds: Double, rate guess: Double) async throws -> Run {
        try await counted {
            let connections = (inFlight + 99) / 100
            let count = max(inFlight, Int(guess * seconds))
            let output = try await ChildProcess.succeed(
                "h2load", ["-n", "\(count)", "-c", "\(connections)", "-m", "\(inFlight / connections)", "-t", "1", url])
            return (try number(after: ",", before: " req/s", in: output), Double(count))
        }
    }

    /// `curl -Z`, which takes 300 at a time at most.
    static func curl(_ url: String, inFlight: Int, seconds: Double, rate guess: Double, authority: String?) async throws -> Run {
        let count = max(inFlight, Int(guess * seconds))
        let words =
            ["-q", "-s", "-Z", "--parallel-max", "\(min(300, inFlight))", "-o", "/dev/null"] + (authority.map { ["--cacert", $0] } ?? [])
        let start = ContinuousClock.now
        let outcome = try await ChildProcess.run(.init("curl", words + ["\(url)?[1-\(count)]"]))
        guard outcome.status == .exited(0) else { throw KitError("curl ended with \(outcome.status): \(outcome.errors)") }
        return Run(
            perSecond: Double(count) / ((ContinuousClock.now - start) / .seconds(1)),
            cpuMicroseconds: outcome.usage.cpuTime / .microseconds(1) / Double(count),
            peakMegabytes: Double(outcome.usage.peakMemory) / 1_000_000)
    }

    private static func counted(_ body: () async throws -> (rate: Double, count: Double)) async throws -> Run {
        let before = cpuTime(ofChildren: true)
        let (rate, count) = try await body()
        return Run(perSecond: rate, cpuMicroseconds: (cpuTime(ofChildren: true) - before) / .microseconds(1) / count)
    }

    /// The number that follows, or stands between, these words.
    private static func number(after word: String, before end: String? = nil, in output: String) throws -> Double {
        for line in output.split(whereSeparator: \.isNewline) where line.contains(word) && line.contains(end ?? "") {
            var text = line[...]
            if let end, let range = text.firstRange(of: end) { text = text[..<range.lowerBound] }
            let parts = text.split { $0 == " " || $0 == "," }
            if let value = parts.last.flatMap({ Double($0) }) { return value }
        }
        throw KitError("a peer printed something else than expected: \(output)")
    }
}
