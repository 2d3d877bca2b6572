internal import GannetBase
package import GannetHTTP
package import GannetQueue

/// A folder of bodies with a record of what earlier runs fetched and how far this run has come.
///
/// A run relies on this record and not on Redis. It lists its URLs (``wants(_:)``) and fetches the missing ones. It checks the files
/// of the others (``check()``), and fetches missing and changed ones as well (``wantsAgain(_:)``). One run at a time uses a folder.
package final class RecordedFolder: Sendable {
    let folder: BodyFolder
    let journal: Journal
    let demand: Demand
    private let state = Mutex(State())

    private struct State {
        var failure: (any Error)?
        var counts = Counts()
    }

    /// Which of the existing files are good enough.
    package enum Demand: Sendable, Equatable {
        case any
        /// Files that were written within this time.
        case younger(than: Duration)
        /// Files of this run only.
        case fresh
        /// Whatever is there, as it is: only URLs are wanted that have failed or are new. Where a class is given, only those that failed with it.
        case failed(errorClass: String?)

        /// Whether bodies that are there may be asked for again.
        var asksAgain: Bool {
            switch self {
            case .fresh, .younger: true
            case .any, .failed: false
            }
        }
    }

    /// How far the run has come. Each URL counts once.
    package struct Counts: Sendable, Equatable {
        /// URLs in the part of the list that was read.
        package var listed = 0
        /// Repetitions of listed URLs, counted by ``lists(_:)`` only.
        package var repeated = 0
        /// URLs to fetch.
        package var queued = 0
        /// URLs that were fetched or given up.
        package var ended = 0
    }

    /// The folder of the record.
    static let name = ".gannet"

    /// Reads the record of earlier runs.
    package static func open(_ folder: BodyFolder, demand: Demand = .any) async throws -> RecordedFolder {
        try await OwnedThread.run(name: "gannet-folder") { try RecordedFolder(folder, demand: demand) }
    }

    init(_ folder: BodyFolder, demand: Demand = .any) throws {
        self.folder = folder
        self.demand = demand
        journal = try Journal(in: folder.ownFolder(Self.name))
    }

    /// The path for messages.
    package var displayPath: String { folder.displayPath }

    /// The path of a record that could not be read and was replaced by an empty one.
    package var lostRecord: String? { journal.isReplaced ? "\(ownPath)/\(Journal.name)".escapedForDisplay : nil }

    /// The manifest of the last complete run.
    package var manifestPath: String { "\(folder.path)/\(Manifest.name)" }

    /// The folder for the run's own files. It exists.
    package var ownPath: String { "\(folder.path)/\(Self.name)" }

    package var counts: Counts { state.withLock { $0.counts } }

    /// The knowledge of a run about a URL that it lists.
    package enum Listing: Sendable {
        case wanted
        /// Its file exists, as far as is known.
        case there
        /// It was listed before.
        case repeated
    }

    /// Lists a URL of the run. True if it needs a fetch as far as is known.
    package func wants(_ id: URLID) -> Bool { list(id) == .wanted }

    /// Lists a URL of the run.
    package func list(_ id: URLID) -> Listing {
        let isChosen = isChosen(id)
        let (isNew, isWanted) = update(id) { entry in
            guard !entry.marks.contains(.listed) else { return (false, false) }
            entry.marks.insert(.listed)
            guard isChosen else { return (true, false) }
            entry.marks.insert(.queued)
            return (true, true)
        }
        state.withLock { state in
            state.counts.listed += isNew ? 1 : 0
            state.counts.queued += isWanted ? 1 : 0
        }
        return isWanted ? .wanted : isNew ? .there : .repeated
    }

    /// Whether the run's demand is for this URL, if its list has it.
    private func isChosen(_ id: URLID) -> Bool {
        let entry = journal[id] ?? URLTable.Entry()
        switch demand {
        case .any, .younger, .failed(nil): return entry.offset == 0 || entry.marks.contains(.failed)
        case .fresh: return true
        case .failed(let errorClass?):
            if entry.offset == 0 { return Manifest.classesWithoutRecord.contains(errorClass) }
            var reader = journal.reader()
            guard entry.marks.contains(.failed), let record = try? reader.record(at: entry.offset) else { return false }
            return JobFilter(errorClass: errorClass).matches(errorClass: record.errorClass)
        }
    }

    /// The latest record of a URL.
    func record(of id: URLID, _ reader: inout JournalReader) throws -> JobRecord? {
        guard let entry = journal[id], entry.offset > 0 else { return nil }
        return try reader.record(at: entry.offset)
    }

    /// Lists a URL without regard to its record. False if it was listed before.
    package func lists(_ id: URLID) -> Bool {
        let (isNew, _) = update(id) { entry in (entry.marks.update(with: .listed) == nil, false) }
        state.withLock { state in
            state.counts.listed += isNew ? 1 : 0
            state.counts.repeated += isNew ? 0 : 1
        }
        return isNew
    }

    /// Lists a URL a second time. True if the check found its file missing or changed.
    package func wantsAgain(_ id: URLID) -> Bool {
        let (_, isWanted) = update(id) { entry in
            guard entry.marks.contains(.broken), !entry.marks.contains(.queued) else { return (false, false) }
            entry.marks.insert(.queued)
            return (false, true)
        }
        if isWanted { state.withLock { $0.counts.queued += 1 } }
        return isWanted
    }

    func noteEnd() { state.withLock { $0.counts.ended += 1 } }

    /// Throws the first error that occurred while URLs were listed.
    package func rethrow() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func update(_ id: URLID, _ change: @Sendable (inout URLTable.Entry) -> (Bool, Bool)) -> (Bool, Bool) {
        do {
            return try journal.update(id, change)
        } catch {
            state.withLock { $0.failure = $0.failure ?? error }
            return (false, false)
        }
    }
}

extension RecordedFolder: JobOutput {
    package var bodyDestination: BodyDestination { folder.bodyDestination }

    /// A body that this run has fetched, if the job comes back because Redis did not hear of its end.
    package func found(_ job: Job) throws -> HeldBody? { try body(job.id) }

    package func held(_ outcome: URLOutcome, for job: Job) throws -> HeldBody? { try body(job.id) }

    package func place(_ download: Download, digest: SHA256Digest, of job: Job) throws -> Placement {
        try Placement(of: job) { try folder.stored(download, of: job) }
    }

    package func note(_ end: JobEnd, of job: Job) throws {
        switch end.outcome {
        case .fetched: try append(JobRecord(job.id, end))
        case .failed: try append(keptBody(of: job.id, after: end) ?? JobRecord(job.id, end))
        case .revalidated: try noteCheck(of: job.id, end)
        // A body that was in the folder before has its record.
        case .cached: break
        }
    }

    /// Records how a URL ended.
    func append(_ record: JobRecord) throws {
        var record = record
        if let entry = journal[record.id], entry.offset > 0 {
            var reader = journal.reader()
            let known = try reader.record(at: entry.offset)
            let isOfEarlierRun = !entry.marks.contains(.current) && known?.isFailed == false
            record.lastDigest = isOfEarlierRun ? known?.digest : known?.lastDigest
        }
        if try journal.append(record) { noteEnd() }
    }

    /// The record of a body that was there when it was asked for again. A failure that may pass takes no body away.
    private func keptBody(of id: URLID, after end: JobEnd) throws -> JobRecord? {
        guard demand.asksAgain, let errorClass = end.content.fields[.errorClass], let kind = FetchError.Kind(className: errorClass),
            FetchError(kind: kind, url: "").isRetryable, let entry = journal[id], entry.offset > 0, !entry.marks.contains(.failed)
        else { return nil }
        var reader = journal.reader()
        guard var record = try reader.record(at: entry.offset), !entry.marks.contains(.current) || record.staleness != nil,
            !record.isPacked, !record.isUnfit, isSound(record, FileCheck(in: folder.path))
        else { return nil }
        record.staleness = .init(errorClass: errorClass, message: end.content.failureSentence)
        record.milliseconds = Int(end.duration / .milliseconds(1))
        return record
    }

    /// Records that the origin has confirmed the body of an earlier run.
    private func noteCheck(of id: URLID, _ end: JobEnd) throws {
        var reader = journal.reader()
        guard journal[id]?.marks.contains(.current) == false, var record = try record(of: id, &reader) else { return }
        record.checkedAt = end.answer.fetchedAt
        record.staleness = nil
        record.milliseconds = Int(end.duration / .milliseconds(1))
        try append(record)
    }

    package func earlier(_ job: Job) throws -> EarlierBody? {
        guard let entry = journal[job.id], entry.offset > 0, entry.marks.isDisjoint(with: [.failed, .current]) else { return nil }
        var reader = journal.reader()
        guard let record = try reader.record(at: entry.offset), record.answer.hasConditions, !record.isPacked, !record.isUnfit,
            isSound(record, FileCheck(in: folder.path))
        else { return nil }
        return EarlierBody(
            body: HeldBody(file: record.file, picture: record.picture), content: record.content(of: job.url), answer: record.answer)
    }

    /// A file that this run wrote, or checked and found good enough.
    private func body(_ id: URLID) throws -> HeldBody? {
        guard let entry = journal[id], entry.offset > 0, !entry.marks.contains(.failed),
            entry.marks.contains(.current) || entry.marks.contains(.sound) && !entry.marks.contains(.queued)
        else { return nil }
        var reader = journal.reader()
        return try reader.record(at: entry.offset).map { HeldBody(file: $0.file, picture: $0.picture) }
    }
}
