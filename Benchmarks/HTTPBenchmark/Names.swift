import BenchmarkKit
import GannetBase
import GannetHTTP
import GannetTestKit

/// A hundred thousand host names, each asked for one small file, with and without dead ones among them.
enum Names {
    /// How the lookup of a name ends. The first letter of the name decides it.
    private enum Fate: Character, CaseIterable {
        case good = "g"
        case unknown = "n"
        case failing = "s"
        case silent = "x"

        /// Three of ten names are dead, one in each way.
        init(_ number: Int, _ withDead: Bool) {
            self = withDead && number % 10 < 3 ? [.unknown, .failing, .silent][number % 10] : .good
        }
    }

    static let callers = 20_000
    static let inFlight = 256
    private static let hosts = 32

    static func compare(isQuick: Bool) async throws {
        let count = isQuick ? 10_000 : 100_000
        let origin = try await Origin.start(
            .init {
                $0.fileCount = 2
                $0.isFast = true
                $0.addresses = (1...hosts).map { "127.0.1.\($0)" }
            })
        let dns = try DNSServer { question in
            switch Fate(rawValue: question.name.first ?? "g") {
            case .unknown: .nameError
            case .failing: .serverFailure
            case .silent: .silence
            // There are many addresses, because each connection leaves a used port behind.
            default: .addresses("127.0.1.\(1 + (Int(question.name.dropFirst().prefix { $0 != "." }) ?? 0) % hosts)")
            }
        }
        table(
            "\(grouped(count)) host names, \(grouped(callers)) callers, \(inFlight) requests in flight", "names", "good ones",
            "until the last good one",
            "good ones a second", "until the last of all", "memory")
        for (title, withDead) in [("none dead", false), ("30 % dead", true), ("none dead", false), ("30 % dead", true)] {
            let good = (0..<count).count { Fate($0, true) == .good }
            let output = try await ChildProcess.succeed(
                CommandLine.arguments[0], ["names", dns.address, "\(origin.port)", "\(withDead ? count : good)", "\(withDead ? 1 : 0)"])
            let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard numbers.count == 4, Int(numbers[0]) == good else {
                throw KitError("the client printed something else than expected: \(output)")
            }
            row(
                title, grouped(good), seconds(.seconds(numbers[1])), rate(Double(good) / numbers[1]), seconds(.seconds(numbers[2])),
                "\(Int(numbers[3] / 1_000_000)) MB")
        }
        try await dns.stop()
        try await origin.stop()
    }

    /// The work of the child process. It prints the number of fetched files, the time of the last one, the time of the end, and the memory.
    static func run(server: String, port: String, count: Int, withDead: Bool) async throws {
        var options = FetchSettings()
        options.allowedNetworks = ["all"]
        options.maximumInFlight = inFlight
        options.resolver.servers = [server]
        let engine = try CurlDownloader(options)
        let batch = Batch(count)
        let start = ContinuousClock.now
        await withTaskGroup { group in
            for _ in 0..<min(callers, count) {
                group.addTask {
                    while let number = batch.next() {
                        let fate = Fate(number, withDead)
                        let url = "http://\(fate.rawValue)\(number).example:\(port)/1.bin"
                        let request = DownloadRequest(url: url, body: .memory(upTo: 1000, thenFileIn: "/dev/null"))
                        guard (try? await engine.download(request)) != nil else { continue }
                        batch.noteGood()
                    }
                }
            }
        }
        let result = batch.result
        print(result.count, (result.last - start) / .seconds(1), (ContinuousClock.now - start) / .seconds(1), peakMemory())
    }

    /// The next name to request, and the number of fetched files.
    private final class Batch: Sendable {
        private struct State {
            var next = 0
            var fetched = 0
            var last = ContinuousClock.now
        }

        private let state = Mutex(State())
        private let count: Int

        init(_ count: Int) { self.count = count }

        func next() -> Int? {
            state.withLock { state in
                guard state.next < count else { return nil }
                state.next += 1
                return state.next - 1
            }
        }

        func noteGood() {
            state.withLock { state in
                state.fetched += 1
                state.last = .now
            }
        }

        var result: (count: Int, last: ContinuousClock.Instant) { state.withLock { ($0.fetched, $0.last) } }
    }
}
