import BenchmarkKit
import GannetTestKit
import Glibc

/// Programs that do the same work. Each has its turn in each round, so that a slow minute of the machine hits all of them.
struct Contest {
    struct Contender {
        let name: String
        /// The part of gannet's work that it does not do.
        var omits = "–"
        /// Its command line, for the reader.
        var settings = ""
        let run: () async throws -> Run
    }

    /// The work of one contender in one round.
    struct Run: Sendable {
        let count: Int
        let seconds: Double
        /// Of its processes together.
        let cpuTime: Duration
        /// Of the process that had the most, in bytes.
        let peakMemory: Int
        /// Nil for a program that uses no Redis.
        var redis: Stage.Work?

        var perSecond: Double { Double(count) / seconds }
        /// For one piece of the work, in microseconds.
        var cpu: Double { cpuTime.microseconds / Double(count) }
        var redisCPU: Double? { redis.map { $0.cpuTime.microseconds / Double(count) } }
    }

    /// A contender and its runs, one a round.
    struct Entry {
        let contender: Contender
        var runs: [Run] = []
    }

    private(set) var entries: [Entry]

    /// The first contender is gannet.
    init(_ contenders: [Contender]) { entries = contenders.map { Entry(contender: $0) } }

    mutating func add(_ contender: Contender) { entries.append(Entry(contender: contender)) }

    mutating func run(rounds: Int) async throws {
        for round in 1...rounds {
            for index in entries.indices {
                note("\(entries[index].contender.name): round \(round) of \(rounds)")
                // The files of the contender before are written now, and not in the next one's time.
                sync()
                entries[index].runs.append(try await entries[index].contender.run())
            }
        }
    }
}

extension Contest.Run {
    init(_ count: Int, _ end: Command.End, redis: Stage.Work? = nil) {
        self.init(count: count, seconds: end.seconds, cpuTime: end.usage.cpuTime, peakMemory: end.usage.peakMemory, redis: redis)
    }
}

extension Contest {
    /// Prints a row for each contender, and how each was started.
    /// - Parameters:
    ///   - title: Names the work.
    ///   - unit: A piece of the work, such as `URL`. Some columns hold figures for each piece.
    func printTable(_ title: String, unit: String) {
        table(
            title, "program", "\(unit)s", "a second: median (lowest to highest)", "gannet / this", "CPU for each", "this / gannet",
            "peak memory", "Redis' CPU for each", "Redis' commands for each", "leaves out")
        guard let gannet = entries.first?.runs else { return }
        for entry in entries {
            let runs = entry.runs
            let commands = runs.compactMap { run in run.redis.map { Double($0.statistics.calls) / Double(run.count) } }
            let redis = runs.compactMap(\.redisCPU)
            row(
                entry.contender.name, grouped(runs[0].count), rates(runs.map(\.perSecond)),
                hundredths(zip(gannet, runs).map { $0.perSecond / $1.perSecond }.median), time(runs.map(\.cpu).median),
                hundredths(zip(gannet, runs).map { $1.cpu / $0.cpu }.median),
                memory(runs.map(\.peakMemory)), redis.isEmpty ? "–" : time(redis.median),
                commands.isEmpty ? "–" : tenths(commands.median), entry.contender.omits)
        }
        print("")
        for entry in entries where !entry.contender.settings.isEmpty { print("- \(entry.contender.name): `\(entry.contender.settings)`") }
    }
}

/// The median of peak memories, as far as it can be told.
func memory(_ peaks: [Int]) -> String {
    let median = peaks.map(Double.init).median
    // A program takes over the peak of the process that started it, which is this one.
    return "\(median > Double(peakMemory()) ? "" : "≤ ")\(Int(median / 1_000_000)) MB"
}
