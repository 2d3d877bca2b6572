import BenchmarkKit
import GannetHTTP
import GannetTestKit

/// The figures of one run of a client.
struct Run {
    var perSecond: Double
    /// Processor time of the client for one request.
    var cpuMicroseconds: Double
    /// Known only for our own client and for curl.
    var peakMegabytes = 0.0
}

/// The engine under test, in a process of its own so that its memory and its processor time are its own.
enum Client {
    /// The work of the child process. This many callers fetch the URL for this long, and each waits for its answers. Prints the figures.
    static func run(url: String, inFlight: Int, seconds: Double, authority: String?) async throws {
        var options = FetchSettings()
        options.allowedNetworks = ["all"]
        options.maximumInFlight = inFlight
        options.caFile = authority
        let engine = try CurlDownloader(options)
        let request = DownloadRequest(url: url, body: .memory(upTo: 4 << 20, thenFileIn: "/dev/null"))
        _ = try await engine.download(request)
        let start = ContinuousClock.now
        let cpu = cpuTime()
        let end = start + .seconds(seconds)
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<inFlight {
                group.addTask {
                    var count = 0
                    repeat {
                        // A server with more connections than it can serve resets some.
                        if (try? await engine.download(request)) != nil { count += 1 }
                    } while .now < end
                    return count
                }
            }
            return await group.reduce(0, +)
        }
        let took = (ContinuousClock.now - start) / .seconds(1)
        print(count, took, (cpuTime() - cpu) / .microseconds(1), peakMemory())
    }

    static func measure(_ url: String, inFlight: Int, seconds: Double, authority: String?) async throws -> Run {
        let words = ["client", url, "\(inFlight)", "\(seconds)"] + (authority.map { [$0] } ?? [])
        let output = try await ChildProcess.succeed(CommandLine.arguments[0], words)
        let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 4 else { throw KitError("the client printed something else than expected: \(output)") }
        return Run(
            perSecond: numbers[0] / numbers[1], cpuMicroseconds: numbers[2] / numbers[0], peakMegabytes: numbers[3] / 1_000_000)
    }
}
