// Linux only: it reads memory and descriptors of processes from /proc.
#if canImport(Glibc)
import BenchmarkKit
import Foundation
import GannetTestKit

/// Load for a long time on servers of its own, and a look at each process every few seconds: does memory grow, do descriptors?
struct Soak {
    /// A run of so many minutes or more is a whole one.
    static let whole = 60

    private let minutes: Int
    /// The folder of the table and the picture.
    private let folder: String

    /// - Parameter words: The minutes, and the folder.
    init(_ words: [String]) throws {
        guard words.count == 2, let minutes = Int(words[0]), minutes > 0 else { throw KitError("soak needs minutes and a folder") }
        (self.minutes, folder) = (minutes, words[1])
    }

    private var seconds: Int { 60 * minutes }

    /// A process of the run, or Redis' data.
    private struct Subject {
        let name: String
        var isBounded = true
        let memory: () async throws -> Int
        var descriptors: (() throws -> Int)?
    }

    /// False when something has grown.
    func run() async throws -> Bool {
        Machine.raiseDescriptorLimit()
        let stage = try await Stage.start()
        let origin = try await Origin.start(.init { $0.answersForLong() })
        let product = Product(stage: stage)
        // Short times, so that state is made and removed all the time. The retries of a job that fails are over soon.
        let settings = Product.Workers(
            concurrency: 32, hostLimit: 16,
            options: ["--cache-limit", "32MB", "--retries", "2", "--give-up-after", "20s", "--host-patience", "10s"])
        let workers = try (0..<2).map { _ in try product.start(product.command(["work"] + settings.words)) }
        let reader = try product.start(Command(CommandLine.arguments[0], [SoakReader.word, "\(origin.port)", stage.folder.file("reader")]))
        let processes = [("worker 1", workers[0]), ("worker 2", workers[1]), ("library", reader)]
        var subjects = processes.map { Self.subject($0, of: $1.pid) }
        subjects.append(Self.subject("redis-server", isBounded: false, of: stage.redis.pid))
        subjects.append(Subject(name: "Redis' data", isBounded: false, memory: stage.usedMemory))

        let start = ContinuousClock.now
        let load = SoakLoad(port: origin.port)
        let seconds = seconds
        let producer = Task { try await Self.produce(product, load, from: start, seconds: seconds) }
        defer { producer.cancel() }
        let record = try await sample(subjects, from: start) {
            for (name, process) in processes where !process.isRunning {
                throw KitError("\(name) has ended: \(process.errors.text)")
            }
        }
        let enqueued = try await producer.value
        let status = try await Ends(product)
        for (name, process) in processes {
            process.terminate()
            _ = try await bounded("\(name) ends") { try await process.exitStatus }
        }
        try write(record)
        let hasGrown = report(record, enqueued: enqueued, status)
        try await origin.stop()
        try await stage.redis.stop()
        return !hasGrown
    }

    private static func subject(_ name: String, isBounded: Bool = true, of pid: Int32) -> Subject {
        Subject(
            name: name, isBounded: isBounded, memory: { try RunningProcess.residentMemory(of: pid) },
            descriptors: { try RunningProcess.descriptors(of: pid) })
    }

    /// Enqueues the URLs of each second, until the time is over. After a late second the next comes at once.
    private static func produce(_ product: Product, _ load: SoakLoad, from start: ContinuousClock.Instant, seconds: Int) async throws -> Int
    {
        let list = product.stage.folder.file("second")
        var count = 0
        for second in 0..<seconds {
            try await Task.sleep(until: start + .seconds(second))
            guard ContinuousClock.now < start + .seconds(seconds) else { break }
            let urls = load.urls(second: second)
            try writeFile(list, urls.count) { urls[$0] + "\n" }
            try await product.enqueue(list, count: urls.count)
            count += urls.count
        }
        return count
    }

    /// Looks at all of them every few seconds: 720 times in an hour, and once a second at most.
    private func sample(
        _ subjects: [Subject], from start: ContinuousClock.Instant, _ check: () throws -> Void
    ) async throws -> SoakRecord {
        var record = SoakRecord(series: subjects.map { .init(name: $0.name, isBounded: $0.isBounded) })
        for second in stride(from: 0, to: seconds, by: max(1, seconds / 720)) {
            try await Task.sleep(until: start + .seconds(second))
            try check()
            for (index, subject) in subjects.enumerated() {
                record.series[index].samples.append(
                    .init(second: second, memory: try await subject.memory(), descriptors: try subject.descriptors?()))
            }
            if second % 60 == 0 { note("minute \(second / 60) of \(minutes)") }
        }
        return record
    }

    private func write(_ record: SoakRecord) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try writeFile("\(folder)/soak.csv", 1) { _ in record.csv }
        let names = record.series.map(\.name)
        func lines(_ value: (SoakRecord.Sample) -> Double?) -> [LinePicture.Line] {
            record.series.map { series in
                .init(
                    name: series.name,
                    points: series.samples.compactMap { sample in value(sample).map { (Double(sample.second) / 60, $0) } })
            }.filter { !$0.points.isEmpty }
        }
        let picture = LinePicture(
            title: "Memory and descriptors over \(minutes) minutes of load", unit: "minutes", names: names,
            panels: [
                .init(title: "memory in MB", lines: lines { Double($0.memory) / 1_000_000 }),
                .init(title: "open files and connections", lines: lines { $0.descriptors.map(Double.init) }),
            ])
        try writeFile("\(folder)/soak.svg", 1) { _ in picture.svg }
    }

    /// How the jobs have ended.
    private struct Ends {
        let fetched: Int
        let revalidated: Int
        let known: Int
        let failed: Int

        init(_ product: Product) async throws {
            fetched = try await product.number("fetched")
            revalidated = try await product.number("revalidated")
            known = try await product.number("cached")
            failed = try await product.number("failed")
        }
    }

    /// Prints the tables. True when something has grown.
    private func report(_ record: SoakRecord, enqueued: Int, _ ends: Ends) -> Bool {
        print("`MINUTES=\(minutes) make soak`, \(Machine.description)")
        table("How the jobs ended", "enqueued", "fetched", "unchanged", "there already", "failed", "not ended")
        let ended = [ends.fetched, ends.revalidated, ends.known, ends.failed]
        row(([enqueued] + ended + [enqueued - ended.reduce(0, +)]).map(grouped))
        table(
            "Medians of the first quarter after warming up, and of the last quarter", "process", "memory", "at the end", "growth",
            "descriptors", "at the end", "verdict")
        let comparisons = record.comparisons(of: seconds)
        for (comparison, series) in zip(comparisons, record.series) {
            let growth = comparison.memory.last - comparison.memory.first
            row(
                comparison.name, megabytes(comparison.memory.first), megabytes(comparison.memory.last),
                (growth < 0 ? "-" : "+") + megabytes(abs(growth)),
                comparison.descriptors.map { "\(Int($0.first))" } ?? "–", comparison.descriptors.map { "\(Int($0.last))" } ?? "–",
                comparison.hasGrown ? "has grown" : series.isBounded ? "good" : "good; its memory is not judged")
        }
        let data = record.series.last?.samples.filter { $0.second >= SoakRecord.start(of: seconds) } ?? []
        if let first = data.first, let last = data.last {
            // The outcomes of that time, at an even pace.
            let outcomes = max(1, (ends.fetched + ends.failed) * (last.second - first.second) / seconds)
            print(
                """

                Redis keeps an outcome for a day at least, so its data grows with the new URLs of a day, whatever this run does: by \
                \((last.memory - first.memory) / outcomes) bytes for each job that was fetched or failed after warming up. Bodies take \
                32 MB at most, and are a part of the growth until then.
                """)
        }
        print(
            """

            Memory has grown where it is more by \(Int(SoakRecord.memoryBound.part * 100)) % and \
            \(megabytes(SoakRecord.memoryBound.amount)), and descriptors where they are more by \
            \(Int(SoakRecord.descriptorBound.part * 100)) % and \(Int(SoakRecord.descriptorBound.amount)).
            """)
        return comparisons.contains(where: \.hasGrown)
    }

    private func megabytes(_ bytes: Double) -> String { "\(tenths(bytes / 1_000_000)) MB" }
}
#endif
