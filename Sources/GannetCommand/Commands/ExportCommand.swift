import Crawl
import GannetHTTP
import GannetQueue
import Lists
import Results

/// `gannet export`: the bodies of what was enqueued together, in a folder.
struct ExportCommand {
    private static let batch = Flag(
        "batch", .batchName, isRequired: true, "The batch, by the name that 'enqueue' printed and 'batch list' shows.")
    private static let directory = Flag(
        "dir", short: "d", .folder(), isRequired: true,
        "The folder that receives the bodies and 'manifest.jsonl'. It is made when it is missing.")
    private static let refetch = Toggle(
        "refetch", "Fetch the URLs whose bodies are not kept any more. Other callers in the cluster share the fetches.")
    private static let json = Toggle("json", "Print a JSON object for each URL of the batch, and one with the totals.")
    private static let input = Flag(
        "input", short: "i", .file(), hasVariable: false,
        "The list that was enqueued; '-' is standard input. The manifest then has a line for each of its rows, in its order, with the row's id "
            + "and the values that '--carry' names. Redis keeps neither.")

    static let spec = CommandSpec(
        "export",
        summary: "Write the bodies of a batch into a folder, with a manifest.",
        discussion:
            "Bodies come from the workers' folders that '--store' names, and from Redis. A body that is there already, byte for byte, is not "
            + "written again. The manifest has a line like that of 'run' for each URL whose job has ended. The lines are in the order in which "
            + "the jobs ended: 'finished' is the place in that order, and 'line' is null. With '--input' they are in the order of that list, and "
            + "a row whose URL is not among the ended ones has the class 'absent'. Rows of cancelled jobs have the class 'cancelled'. "
            + "The exit status is 0 when every body is there, 1 when some are missing, and 75 when the batch is not complete "
            + "yet. The bodies that are there are written in any case.",
        flags: [
            batch.entry, directory.entry, ResultOptions.formatOfExport.entry, ResultOptions.archiveSize.entry,
            ResultOptions.samples.entry, ResultOptions.names.entry, refetch.entry, json.entry, input.entry,
        ] + InputOptions.listFlags + [InputOptions.carry.entry, ResultOptions.manifest.entry] + StoreOptions.flagsToRead
            + FetchOptions.flagsForCalls + QueueTarget.flags,
        mostUsed: ["batch", "dir", "store", "refetch"],
        examples: [
            "gannet export --batch monday -d out": "Writes the bodies of a batch into the folder 'out'."
        ]
    ) { try await ExportCommand($0).run() }

    private static let patience = Duration.seconds(60)

    private let batch: String
    /// The folder for bodies.
    private let directory: String
    private let format: OutputFormat
    private let archiveSize: Int
    private let samplesPerShard: Int
    private let names: NameStyle
    private let refetches: Bool
    /// The list that the manifest follows.
    private let list: (source: InputOptions.Source, options: ListOptions)?
    private let manifest: ResultOptions.ManifestFormat
    private let store: StoreOptions
    private let fetch: FetchOptions
    private let target: QueueTarget

    private var console: Console { target.console }

    private init(_ arguments: Arguments) throws {
        batch = try arguments.require(Self.batch)
        directory = try arguments.require(Self.directory)
        format = try ResultOptions.format(arguments, ResultOptions.formatOfExport)
        archiveSize = try arguments.require(ResultOptions.archiveSize)
        samplesPerShard = try arguments.require(ResultOptions.samples)
        names = try arguments.require(ResultOptions.names)
        refetches = arguments.isSet(Self.refetch)
        let source = try arguments.optional(Self.input).map { InputOptions.Source($0) }
        if source == nil { try InputOptions.refuseListFlags(arguments) }
        list = try source.map { (source: $0, options: try InputOptions.list(arguments)) }
        manifest = try arguments.require(ResultOptions.manifest)
        store = try StoreOptions(arguments)
        fetch = try FetchOptions(arguments, forJobs: false)
        target = try QueueTarget(arguments)
    }

    private func run() async throws -> ExitStatus {
        let settings = try fetch.checkedSettings()
        let rows = try list.map { try InputRows($0.source, $0.options) }
        let tables = try await TableWriter.prepare(manifest)
        let stores = try store.openToRead()
        return try await target.connection.withAccess(console, looking: true) { access, interruption in
            let status = try await export(settings, stores, rows, tables, access, interruption)
            if status == nil { console.note("interrupted before it was done; the same command goes on where it stopped.") }
            return status ?? interruption.status
        }
    }

    /// `nil` when a signal ended it.
    private func export(
        _ settings: FetchSettings, _ stores: [BodyFolder], _ rows: InputRows?, _ tables: TableWriter?, _ access: ClusterAccess,
        _ interruption: Interruption
    ) async throws -> ExitStatus? {
        let start = ContinuousClock.now
        let kept = BlobStore(access.cluster)
        let asked = await interruption.cancelling { try await FinishedBatch(named: batch, in: access.cluster.queue(target.queue)) }
        guard let found = try asked.get(unlessInterrupted: interruption) else { return nil }
        guard let finished = found else { throw CommandFailure.unknownBatch(batch, target.queue) }
        // Not before: a name that was mistyped makes no folder.
        let bodies = try WorkFolder.open(directory, names: names)
        let lock = try WorkFolder.lock(bodies, .alone)
        defer { withExtendedLifetime(lock) {} }
        let swept = lock.sweep()
        if swept > 0 { console.detail("removed \(Amounts.count(swept, "file")) that an earlier command left half-written") }

        if format != .files, store.folders.contains(where: bodies.isFolder(at:)) {
            throw CommandFailure(
                .wrongUsage,
                "The folder \(bodies.displayPath) is that of '--store', and packing would remove its bodies from it. Choose another folder."
            )
        }
        try WorkFolder.claim(bodies, format, console)
        let opened = await interruption.cancelling { try await RecordedFolder.open(bodies) }
        guard let folder = try opened.get(unlessInterrupted: interruption) else { return nil }
        WorkFolder.warnOfLoss(in: folder, "every body is written again", console)
        let done = await interruption.cancelling {
            let totals = try await write(finished, into: folder, stores, rows, access, settings)
            try await tables?.write(in: folder)
            return totals
        }
        guard let totals = try done.get(unlessEndedBy: interruption) else { return nil }
        await release(finished, in: kept)
        let report = ExportReport(
            queue: target.queue, batch: finished.batch, folders: store.folders, totals: totals.urls, list: totals.list,
            time: ContinuousClock.now - start)
        for sentence in report.complaints { console.error(sentence) }
        guard target.json else { return try console.print(prose: "\(report.text) to \(folder.displayPath)", last: report.status) }
        return try RunManifest.print(folder.manifestPath, then: report.json, last: report.status, console)
    }

    /// The bodies are in the folder, so Redis need not keep them.
    private func release(_ exported: FinishedBatch, in kept: BlobStore) async {
        let holding = HoldingBatch(queue: target.queue, batch: exported.batch.name)
        do {
            if try await exported.isAll() {
                try await kept.release([holding])
            } else {
                try await exported.forEachBody { try await kept.exported($0, of: holding) }
            }
        } catch {
            console.warn("Redis keeps the bodies of the batch as if nobody had exported them: \(error)")
        }
    }

    private func write(
        _ batch: FinishedBatch, into folder: RecordedFolder, _ stores: [BodyFolder], _ rows: InputRows?, _ access: ClusterAccess,
        _ settings: FetchSettings
    ) async throws -> (urls: ManifestTotals, list: ManifestTotals?) {
        let packing = try await packing(in: folder, obeying: batch.batch.options.manners)
        let tally = WorkTally(console, access.watch, of: { batch.jobs - folder.counts.repeated })
        let export = try await BatchExport(
            batch, of: access.cluster, into: folder, packing: packing, stores: stores, refetches: refetches, patience: Self.patience
        ) { tally.note(WorkerReport(exported: $0, remembered: $1)) }
        let outcome = await tally.showing {
            try await export.collect()
            if refetches { try await refetch(export, headers: batch.batch.options.headers, access.cluster, settings) }
            return try await writeManifest(export, rows, batch.batch.options.headers)
        }
        if export.countWithoutExchanges > 0 {
            console.note(
                "\(Amounts.count(export.countWithoutExchanges, "URL")) without what went over the wire: it is not kept any more, or was not kept."
            )
        }
        await export.close()
        return try outcome.get()
    }

    private func packing(in folder: RecordedFolder, obeying manners: Manners) async throws -> BodyPacking? {
        switch format {
        case .files: nil
        case .warc: try await .intoArchives(folder, size: archiveSize, information: [(name: "robots", value: manners.robots.rawValue)])
        case .shards:
            try await .intoShards(
                folder, samples: samplesPerShard, tell: { WorkFolder.warnOfDamage($0, in: folder, target.console) })
        }
    }

    private func writeManifest(
        _ export: BatchExport, _ rows: InputRows?, _ headers: RequestHeaders
    ) async throws -> (urls: ManifestTotals, list: ManifestTotals?) {
        guard let rows else { return try await export.writeManifest() }
        return try await export.writeManifest {
            try await rows.nextBatch().map { Array($0) }
        } identify: {
            try JobEntry(row: $0, headers: headers).id
        }
    }

    private func refetch(_ export: BatchExport, headers: RequestHeaders, _ cluster: ClusterState, _ settings: FetchSettings) async throws {
        fetch.sayWhatProxyMeans(console)
        var fetching = fetch.fetching(cacheLimit: store.cacheLimit)
        fetching.headers = headers
        let client = try await ClusterFetch(cluster, settings, fetching)
        do {
            try await export.refetch(through: client, concurrency: fetch.worker.concurrency, hostLimit: fetch.worker.hostLimit)
            await client.close()
        } catch {
            await client.close()
            throw error
        }
    }
}
