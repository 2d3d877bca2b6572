import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results

/// `gannet run` at work: feeds the queue while a worker empties it, writes the manifest, and leaves nothing in Redis.
///
/// The folder's record says which URLs are done, and each run makes its queue anew. So leftovers of an interrupted run, or of a lost Redis,
/// do no harm. Whatever ends a run, its manifest says of each row how far it came.
struct Run: Sendable {
    let options: RunCommand
    let input: RunInput
    let settings: FetchSettings
    let identity: RunIdentity
    let access: ClusterAccess
    let bodies: BodyFolder
    /// Whether the last run in the folder was killed.
    let followsKill: Bool
    let interruption: Interruption
    let endpoint: WorkerEndpoint?
    let window: RunWindow?
    /// Nil where no table of the manifest is wanted.
    let tables: TableWriter?
    /// Nil where bodies are stored as they are.
    let maker: PictureMaker?

    /// Nil where bodies may be any.
    let expected: ExpectedDigests?

    let early: EarlyEnd

    var console: Console { options.console }
    var queue: FetchQueue { access.cluster.queue(identity.queue) }

    func run() async throws -> ExitStatus {
        let start = ContinuousClock.now
        let begun = await interruption.cancelling {
            try await begin()
            return try await RecordedFolder.open(bodies, demand: options.demand)
        }
        guard let folder = try begun.get(unlessInterrupted: interruption) else { return await interrupted() }
        WorkFolder.warnOfLoss(in: folder, "every URL is fetched again", console)
        do {
            try input.prepare(in: folder)
            let packing =
                options.format == .shards
                ? try await BodyPacking.intoShards(
                    folder, samples: options.samplesPerShard, tell: { WorkFolder.warnOfDamage($0, in: folder, console) }) : nil
            return try await fetch(RunManifest(folder: folder, packing: packing), since: start)
        } catch {
            await leaveNothing()
            throw error
        }
    }

    private func fetch(_ manifest: RunManifest, since start: ContinuousClock.Instant) async throws -> ExitStatus {
        let folder = manifest.folder
        window?.found.begin(with: folder)
        let fed: Fed?
        do {
            fed = try await feedAndStore(manifest, since: start)
            if fed == nil, early.reason == nil { return await interrupted(manifest) }
            if let fed {
                guard folder.counts.listed > 0 else {
                    throw CommandFailure(.noUsableInput, "The input holds no URL that can be fetched.")
                }
                guard try await isComplete(fed.summary) else { return await interrupted(manifest) }
            }
        } catch {
            await leave(manifest, because: CommandFailure(error).message ?? "The run failed.")
            throw error
        }
        // A manifest is begun once: its rows are told, and the bodies that are left are packed, as it is written.
        var manifest = manifest
        if fed == nil, let reason = early.reason {
            await notePutAside(in: folder)
            manifest.work = .unfinishedRun(reason: "\(reason) before this URL ended.", isFailure: true)
        }
        return try await complete(manifest, since: start)
    }

    /// Empties the queue. The folder's lock says that no other process is this run, so every worker with a lease in it is gone.
    private func begin() async throws {
        // Otherwise the URLs of these workers would stay locked until the leases end.
        if try await queue.counts().active > 0 { try await queue.reclaimAll() }
        // Also without jobs: the batch of a run that had nothing to fetch says that all of its input was read, and this run would skip it.
        try await queue.clear()
    }

    /// `nil` when a signal ended it, or something else before the list was done. Archives are complete afterwards, also after an error where that is
    /// possible. Shards are packed by then as far as bodies have come, and the manifest packs the rest.
    private func feedAndStore(_ manifest: RunManifest, since start: ContinuousClock.Instant) async throws -> Fed? {
        let folder = manifest.folder
        guard options.format == .warc else {
            let output: any JobOutput = maker.map { RecordedPictures(folder, $0) } ?? folder
            guard let packing = manifest.packing else { return try await feedAndWork(folder, storing: output, since: start) }
            let packed = PackedBodies(output, packing)
            return try await packed.whilePacking {
                try await feedAndWork(folder, storing: packed, waiting: packed.rows, since: start)
            }
        }
        let archive = try await openArchive(in: folder)
        let fed: Fed?
        do {
            fed = try await feedAndWork(folder, storing: archive, since: start)
        } catch {
            // The next run completes what this one cannot.
            try? await archive.close()
            throw error
        }
        try await archive.close()
        return fed
    }

    private func openArchive(in folder: RecordedFolder) async throws -> RecordedArchive {
        let agent = settings.userAgent ?? FetchSettings.defaultUserAgent
        let archive = try await RecordedArchive.open(
            folder, size: options.archiveSize,
            information: [
                (name: "http-header-user-agent", value: String(agent.prefix(1000))),
                (name: "robots", value: options.submission.manners.robots.rawValue),
            ])
        for file in archive.recovered {
            let cut = file.bytesCut
            console.detail(
                "completed \(file.name) of an earlier run"
                    + (cut > 0 ? "; \(Amounts.bytes(cut)) of a half-written record were cut off" : ""))
        }
        return archive
    }

    /// `nil` when a signal ended it, or something else before the list was done.
    private func feedAndWork(
        _ folder: RecordedFolder, storing stored: any JobOutput, waiting: WaitingRows? = nil, since start: ContinuousClock.Instant
    ) async throws -> Fed? {
        let refuses = options.refusesFalsePictures
        let output: any JobOutput =
            expected != nil || refuses ? VerifiedBodies(stored, expected, refusesFalsePictures: refuses) : stored
        let (feed, feeder) = AsyncStream.makeStream(of: Void.self)
        let watches = early.watch(since: start)
        defer { for watch in watches { watch.cancel() } }
        let isFed = SharedFlag()
        let feeding = Task { () async throws -> Fed? in
            defer { feeder.finish() }
            do {
                let fed = try await fillQueue(from: folder, waiting: waiting)
                isFed.set()
                say(fed, folder)
                return fed
            } catch {
                // A signal, or the end of the worker, has cancelled it.
                if Task.isCancelled { return nil }
                // The worker ends as after a signal.
                interruption.stop()
                throw error
            }
        }
        let working = Task { () async throws -> WorkerEnd in
            do {
                let end = try await work(folder, storing: output, feed: feed, isFed: isFed)
                // A worker that has found the queue empty knows that the feeding has ended.
                if end != .empty { feeding.cancel() }
                return end
            } catch {
                feeding.cancel()
                throw error
            }
        }
        let outcome = await interruption.cancelling {
            try await withTaskCancellationHandler {
                try await feeding.value
            } onCancel: {
                feeding.cancel()
            }
        }
        switch try await working.value {
        case .drained, .handedBack:
            // The worker ends also where the feeding has failed.
            guard try outcome.get(unlessInterrupted: interruption) != nil else { return nil }
            early.noteDrain()
            return nil
        case .missing:
            throw CommandFailure(
                .unavailable,
                "The jobs that are left are missing from the queue: Redis has lost them, or they were damaged; 'gannet doctor' tells more.")
        case .empty: return try outcome.get(unlessEndedBy: interruption) ?? nil
        }
    }

    /// - Parameter isFed: The queue has the whole list.
    private func work(
        _ folder: RecordedFolder, storing output: any JobOutput, feed: AsyncStream<Void>, isFed: SharedFlag
    ) async throws -> WorkerEnd {
        var worker = options.fetch.worker
        worker.endsWhenEmpty = true
        worker.drainTimeout = options.drainTimeout
        // The screen shows the waits that the last heartbeat has found.
        worker.heartbeat = min(worker.heartbeat, .seconds(1))
        // A run is a wish to ask the hosts again, whatever an earlier one has learnt.
        try await access.cluster.forgiveHosts()
        let tally = WorkTally(
            console, access.watch, of: { folder.counts.queued }, places: worker.adaptsConcurrency ? nil : worker.concurrency,
            proxy: settings.proxy, patience: options.fetch.giveUpAfter)
        endpoint?.watch(
            .init(cluster: access.cluster, queue: identity.queue, options: worker, bodyLimit: nil, tally: tally, interruption: interruption)
        )
        let outcome = await tally.showing(early) {
            try await Worker.work(
                on: identity.queue, of: access.cluster, fetch: settings, into: output, options: worker, stops: interruption.stops,
                feed: feed,
                activity: tally.activity
            ) { report in
                if case .putOff(let job, let error, _) = report, let id = job.id {
                    folder.noteNews("Its last attempt failed (\(error.className)): \(error)", of: id)
                }
                tally.note(report)
            }
        }
        // The last requests may have ended after the signal.
        if case .success(let end) = outcome, end != .empty, isFed.isSet, await isEmpty() {
            interruption.forget()
            return .empty
        }
        if interruption.request != nil { console.note("so far: \(tally.snapshot(at: .now).interrupted).") }
        return try outcome.get()
    }

    /// Whether all jobs have ended. False where Redis does not answer soon.
    private func isEmpty() async -> Bool {
        if access.watch.isAway { return false }
        let open = await interruption.cleaningUp { try await queue.counts().open }
        return (try? open.get()) == 0
    }

    private func say(_ fed: Fed, _ folder: RecordedFolder) {
        Feeding.complain(about: fed.summary, of: input.rows, console)
        let (counts, checked) = (folder.counts, fed.checked)
        if case .failed = options.demand {
            console.note("\(counts.queued) of \(Amounts.count(counts.listed, "URL")) \(counts.queued == 1 ? "is" : "are") to be fetched.")
        }
        guard checked.sound + checked.broken + checked.old > 0 else { return }
        func are(_ count: Int) -> String { count == 1 ? "is" : "are" }
        let noun = options.format == .warc ? "record" : "file"
        if checked.old > 0 { console.note("\(Amounts.count(checked.old, noun)) there \(are(checked.old)) older than '--max-age'.") }
        if checked.broken > 0 {
            console.note("\(Amounts.count(checked.broken, noun)) of an earlier run \(are(checked.broken)) missing or changed.")
        }
        console.note(
            "\(checked.sound) of \(Amounts.count(counts.listed, "URL")) \(are(checked.sound)) there already; \(counts.queued) to fetch.")
    }

    /// Whether every accepted job has ended in Redis; false when a signal came first.
    private func isComplete(_ fed: EnqueueSummary) async throws -> Bool {
        let asked = await interruption.cancelling { try await queue.counts() }
        guard let status = try asked.get(unlessEndedBy: interruption) else { return false }
        let ended = status.done + status.failed + status.cancelled
        guard ended >= fed.accepted else {
            throw CommandFailure(
                .unavailable,
                "Redis has lost jobs of this run: it was emptied, or fell back to an older state. Of \(fed.accepted) URLs \(ended) are accounted "
                    + "for. The files in the folder are whole; run the command again to fetch the rest.")
        }
        return true
    }
}
