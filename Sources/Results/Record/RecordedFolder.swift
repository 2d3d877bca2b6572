internal import GannetBase
package import GannetHTTP
package import GannetQueue

/// A folder of bodies with a record of what earlier runs fetched and how far this run has come.
///
/// A run relies on this record and not on Redis. It lists its URLs (``list(_:)``) and fetches the missing ones. It checks the files
/// of the others (``check()``), and fetches missing and changed ones as well (``wantsAgain(_:)``). One run at a time uses a folder.
package final class RecordedFolder: Sendable {
    let folder: BodyFolder
    let journal: Journal
    let demand: Demand
    private let state = Mutex(State())

    private struct State {
        var failure: (any Error)?
        var counts = Counts()
        var news: [URLID: String] = [:]
    }

    /// Which of the existing files are good enough.
    package enum Demand: Sendable, Equatable {
        case any
        /// Files that were written within this time.
        case younger(than: Duration)
        /// Files of this run only.
        case fresh
        /// Whatever is there, as it is: only URLs are wanted that are new or have failed, also where their body stayed. Where classes are given,
        /// only those that failed with one of them.
        case failed(errorClasses: [String])

        /// Whether bodies that are there may be asked for again.
        package var asksAgain: Bool {
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

    /// Lists a URL of the run. As far as is known it is pending, there, or listed before.
    package func list(_ id: URLID) -> JobRecord.Outcome {
        let isChosen = isChosen(id)
        guard mark(id, { $0.contains(.listed) ? nil : isChosen ? [.listed, .queued] : .listed }) else { return .repeated }
        state.withLock { state in
            state.counts.listed += 1
            state.counts.queued += isChosen ? 1 : 0
        }
        return isChosen ? .pending : .there
    }

    /// Whether the run's demand is for this URL, if its list has it.
    private func isChosen(_ id: URLID) -> Bool {
        let entry = journal[id] ?? URLTable.Entry()
        switch demand {
        case .any, .younger: return entry.offset == 0 || entry.marks.contains(.failed)
        case .fresh: return true
        case .failed(let errorClasses):
            var filter = JobFilter()
            filter.errorClasses = errorClasses
            if entry.offset == 0 { return errorClasses.isEmpty || Manifest.classesWithoutRecord.contains(where: filter.matches) }
            if entry.marks.contains(.failed), errorClasses.isEmpty { return true }
            guard let record = try? journal.record(entry), record.isFailed || record.staleness != nil else { return false }
            return filter.matches(errorClass: record.staleness?.errorClass ?? record.errorClass)
        }
    }

    /// Lists a URL without regard to its record. False if it was listed before.
    package func lists(_ id: URLID) -> Bool {
        let isNew = mark(id) { $0.contains(.listed) ? nil : .listed }
        state.withLock { state in
            state.counts.listed += isNew ? 1 : 0
            state.counts.repeated += isNew ? 0 : 1
        }
        return isNew
    }

    /// Lists a URL a second time. True if the check found its file missing or changed.
    package func wantsAgain(_ id: URLID) -> Bool {
        let isWanted = mark(id) { $0.contains(.broken) && !$0.contains(.queued) ? .queued : nil }
        if isWanted { state.withLock { $0.counts.queued += 1 } }
        return isWanted
    }

    /// Notes the last that is known of a URL that has not ended: a sentence for its row, should it be left. Of a bounded number of URLs.
    package func noteNews(_ sentence: String, of id: URLID) {
        state.withLock { if $0.news.count < Self.mostNews || $0.news[id] != nil { $0.news[id] = sentence } }
    }

    func news(of id: URLID) -> String? { state.withLock { $0.news[id] } }

    private static let mostNews = 10_000

    /// Throws the first error that occurred while URLs were listed.
    package func rethrow() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Marks a URL where `news` has marks for it. False where it has none.
    private func mark(_ id: URLID, _ news: @Sendable (URLTable.Marks) -> URLTable.Marks?) -> Bool {
        do {
            return try journal.update(id) { entry in
                guard let marks = news(entry.marks) else { return false }
                entry.marks.formUnion(marks)
                return true
            }
        } catch {
            state.withLock { $0.failure = $0.failure ?? error }
            return false
        }
    }
}

extension RecordedFolder: JobOutput {
    package var bodyDestination: BodyDestination { folder.bodyDestination }

    /// A file that this run wrote, or checked and found good enough. Such a job comes back if Redis did not hear of its end.
    package func found(_ job: Job) throws -> HeldBody? {
        guard let entry = journal[job.id], !entry.marks.contains(.failed),
            entry.marks.contains(.current) || entry.marks.contains(.sound) && !entry.marks.contains(.queued)
        else { return nil }
        return try journal.record(entry).map { HeldBody(file: $0.file, picture: $0.picture) }
    }

    package func held(_ outcome: URLOutcome, for job: Job) throws -> HeldBody? { try found(job) }

    package func place(_ download: Download, digest: SHA256Digest, of job: Job) throws -> Placement {
        let clause = BodyKind.falsePicture(download)
        return try Placement(of: job) { HeldBody(file: try folder.stored(download, of: job).file, typeMismatch: clause) }
    }

    package func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) throws {
        switch end.outcome {
        case .fetched: try append(end)
        case .failed: try append(keptBody(after: end) ?? end)
        case .revalidated:
            guard journal[end.id]?.marks.contains(.current) == false, var record = try journal.record(of: end.id) else { return }
            record.checkedAt = end.fetchedAt
            record.staleness = nil
            record.milliseconds = end.milliseconds
            try append(record)
        // A body that was in the folder before has its record.
        default: break
        }
    }

    /// Records how a URL ended.
    func append(_ record: JobRecord) throws {
        var record = record
        if let entry = journal[record.id], let known = try journal.record(entry) {
            let isOfEarlierRun = !entry.marks.contains(.current) && !known.isFailed
            record.lastDigest = isOfEarlierRun ? known.digest : known.lastDigest
        }
        let isFirst = try journal.append(record)
        state.withLock { state in
            if isFirst { state.counts.ended += 1 }
            state.news[record.id] = nil
        }
    }

    /// The record of a body that was there when it was asked for again. A failure that may pass takes no body away.
    private func keptBody(after end: JobRecord) throws -> JobRecord? {
        guard let kind = FetchError.Kind(className: end.errorClass), FetchError(kind: kind, url: "").isRetryable,
            let entry = journal[end.id], var record = try journal.record(entry), !record.isFailed,
            demand.asksAgain || record.staleness != nil,
            !entry.marks.contains(.current) || record.staleness != nil, isWhole(record)
        else { return nil }
        record.staleness = .init(errorClass: end.errorClass, message: end.errorMessage)
        record.milliseconds = end.milliseconds
        return record
    }

    package func earlier(_ job: Job) throws -> JobRecord? {
        guard let entry = journal[job.id], entry.marks.isDisjoint(with: [.failed, .current]), let record = try journal.record(entry) else {
            return nil
        }
        return record.hasConditions && isWhole(record) ? record : nil
    }

    /// Whether the body is in a file of its own, as it was fetched.
    private func isWhole(_ record: JobRecord) -> Bool {
        !record.isPacked && !record.isUnfit && isSound(record)
    }
}
