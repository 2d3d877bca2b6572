import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results

/// The ends of a run: what its folder, its queue and its user are left with.
extension Run {
    func complete(_ manifest: RunManifest, since start: ContinuousClock.Instant) async throws -> ExitStatus {
        let written = await interruption.cancelling {
            let totals = try await write(manifest)
            try await tables?.write(in: manifest.folder)
            await tellStrays(in: manifest.folder)
            return totals
        }
        guard let totals = try written.get(unlessEndedBy: interruption) else { return await interrupted() }
        let stays = window?.stays == true && !early.isAwaited
        // The window shows the jobs that have ended, for as long as it stays.
        if !stays { await leaveNothing() }
        var summary = RunSummary(totals: totals, time: ContinuousClock.now - start)
        if early.reason != nil, options.demand.asksAgain {
            let counts = manifest.folder.counts
            summary.notAsked = max(0, totals[.there] - (counts.listed - counts.queued))
        }
        let status = try report(summary, of: manifest.folder)
        if stays {
            await window?.stay(interruption, early)
            await leaveNothing()
        }
        return status
    }

    /// The error itself names only its cause, such as a full disk.
    private func write(_ manifest: RunManifest) async throws -> ManifestTotals {
        do {
            return try await manifest.write(of: self)
        } catch let failure as StorageFailure {
            console.warn("no manifest was written; one of an earlier run stays as it is.")
            throw failure
        }
    }

    private func tellStrays(in folder: RecordedFolder) async {
        guard followsKill || folder.lostRecord != nil else { return }
        let strays = await folder.strays()
        guard strays.count > 0 else { return }
        let (what, them) = strays.count == 1 ? ("is named like a body, and belongs", "it") : ("are named like bodies, and belong", "them")
        console.note(
            "\(Amounts.count(strays.count, "file")) in \(folder.displayPath) \(what) to no URL of this list or of an earlier one, such as "
                + "\(strays.example.escapedForDisplay). A killed run may have left \(them), and nothing removes \(them).")
    }

    /// Prints the result, and says whether the command has succeeded.
    private func report(_ summary: RunSummary, of folder: RecordedFolder) throws -> ExitStatus {
        let totals = summary.totals
        if totals.mismatches > 0 {
            console.warn(
                totals.mismatches == 1
                    ? "1 body is not what its type says: 'typeMismatch' in manifest.jsonl tells."
                    : "\(totals.mismatches) bodies are not what their type says: 'typeMismatch' in manifest.jsonl tells.")
        }
        let status: ExitStatus =
            options.maxFailures.allows(totals[.failed] + totals[.invalid] + summary.notAsked, of: totals.rows) ? .done : .someFailed
        guard options.json else {
            return try console.print(prose: "\(summary.text) to \(folder.displayPath)\(summary.reference)", last: status)
        }
        return try RunManifest.print(folder.manifestPath, then: summary.json, last: status, console)
    }

    /// When Redis is away the next run does this first.
    func leaveNothing() async {
        if access.watch.isAway { return }
        await interruption.cleaningUp { try await queue.clear() }
    }

    /// Notes which URLs wait while another worker fetches them, for their rows.
    func notePutAside(in folder: RecordedFolder) async {
        if access.watch.isAway { return }
        await interruption.cleaningUp {
            let waiting = try await queue.jobs(JobSelection(.parked), limit: Self.mostParked, parts: Self.mostParts)
            for job in waiting.jobs { folder.noteNews("Another worker was fetching it.", of: job.entry.id) }
        }
    }

    /// Writes what there is. The next signal cuts that short, and then an earlier manifest stays.
    func leave(_ manifest: RunManifest, because reason: String) async {
        let folder = manifest.folder
        guard folder.counts.listed > 0 else { return }
        await notePutAside(in: folder)
        let written = await interruption.cleaningUp(within: Self.manifestBound) {
            var manifest = manifest
            manifest.work = .unfinishedRun(reason: reason)
            let totals = try await manifest.write(of: self)
            try await tables?.write(in: folder)
            return totals
        }
        do {
            let totals = try written.get()
            let ended = totals.rows - totals[.pending]
            console.note(
                "manifest.jsonl says what there is: \(ended) of \(Amounts.count(totals.rows, "row")) ended, \(totals[.pending]) pending.")
        } catch is CancellationError {
            console.warn("no manifest was written: a signal cut that short.")
        } catch {
            console.warn("no manifest was written: \(CommandFailure(error).message ?? "\(error)")")
        }
    }

    func interrupted(_ manifest: RunManifest? = nil) async -> ExitStatus {
        if let manifest { await leave(manifest, because: "The run was interrupted before this URL ended.") }
        await leaveNothing()
        console.note(
            input.isReadOnce
                ? "interrupted before it was done; the fetched files stay, and the same command with the same input fetches the rest."
                : options.submission.refresh
                    ? "interrupted before it was done; the same command asks for all bodies anew, and with '--max-age' in place of '--refresh' only for older ones."
                    : "interrupted before it was done; the same command goes on where it stopped.")
        return interruption.status
    }

    private static let mostParked = 1000
    private static let mostParts = 20
    /// For ten million rows it takes minutes.
    private static let manifestBound = Duration.seconds(1800)
}
