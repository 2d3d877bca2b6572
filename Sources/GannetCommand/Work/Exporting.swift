import ClusterState
import Gannet
import GannetBasics
import HTTPEngine

/// `gannet export` at work: writes the kept bodies, fetches missing ones with `--refetch`, and writes the manifest.
struct Exporting: Sendable {
    private let options: ExportOptions
    private let settings: FetchSettings
    private let store: BodyFolder?
    private let access: ClusterAccess
    private let interruption: Interruption
    private let console: Console

    private static let patience = Duration.seconds(60)

    init(
        _ options: ExportOptions, _ settings: FetchSettings, _ store: BodyFolder?, _ access: ClusterAccess, _ interruption: Interruption,
        _ console: Console
    ) {
        self.options = options
        self.settings = settings
        self.store = store
        self.access = access
        self.interruption = interruption
        self.console = console
    }

    func course() async throws(CommandFailure) -> ExitStatus {
        let start = ContinuousClock.now
        let asked = await interruption.cancelling {
            try await FinishedBatch(named: options.batch, in: access.cluster.queue(options.target.queue))
        }
        guard let found = try asked.get(unlessInterrupted: interruption) else { return interrupted() }
        guard let batch = found else { throw BatchArgument.unknown(options.batch, options.target.queue) }
        // Not before: a name that was mistyped makes no folder.
        let bodies = try WorkFolder.open(options.directory, names: options.names)
        let lock = try WorkFolder.lock(bodies, .alone)
        defer { withExtendedLifetime(lock) {} }
        let swept = lock.sweep()
        if swept > 0 { console.detail("removed \(Amounts.count(swept, "file")) that an earlier command left half-written") }

        let opened = await interruption.cancelling { try await RecordedFolder.open(bodies) }
        guard let folder = try opened.get(unlessInterrupted: interruption) else { return interrupted() }
        let done = await interruption.cancelling { try await export(batch, into: folder) }
        guard let totals = try done.get(unlessEndedBy: interruption) else { return interrupted() }
        let report = ExportReport(
            queue: options.target.queue, batch: batch.batch, totals: totals, time: ContinuousClock.now - start)
        for sentence in report.complaints { console.error(sentence) }
        guard options.json else { return try console.print("\(report.text) to \(folder.displayPath)", last: report.status) }
        do throws(CommandFailure) {
            try RunManifest.print(folder.manifestPath, console)
        } catch  where error == .outputClosed {
            return report.status
        }
        return try console.print(report.json.text, last: report.status)
    }

    /// Throws ``CommandFailure``, ``StateError`` or ``OutputFailure``.
    private func export(_ batch: FinishedBatch, into folder: RecordedFolder) async throws -> ExportTotals {
        let tally = WorkTally(console, access.watch, of: { batch.count - folder.counts.repeated })
        let export = try await BatchExport(
            batch, of: access.cluster, into: folder, store: store, refetches: options.refetches, patience: Self.patience,
            report: tally.note)
        let display = ProgressDisplay(of: tally, on: console)
        let outcome: Result<ExportTotals, any Error>
        do {
            try await export.collect()
            if options.refetches { try await refetch(export, headers: batch.batch.options.headers) }
            outcome = .success(try await export.writeManifest())
        } catch {
            outcome = .failure(error)
        }
        await display.end()
        tally.finish()
        await export.close()
        return try outcome.get()
    }

    private func refetch(_ export: BatchExport, headers: RequestHeaders) async throws {
        options.fetch.sayWhatProxyMeans(console)
        var fetching = options.fetch.fetching(options.store)
        fetching.headers = headers
        let fetch = try await ClusterFetch(access.cluster, settings, fetching)
        do throws(OutputFailure) {
            try await export.refetch(through: fetch, concurrency: options.fetch.concurrency, hostLimit: options.fetch.hostLimit)
            await fetch.close()
        } catch {
            await fetch.close()
            throw error
        }
    }

    private func interrupted() -> ExitStatus {
        console.note("interrupted before it was done; the same command goes on where it stopped.")
        return interruption.status
    }
}
