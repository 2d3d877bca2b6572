package import ClusterState
internal import GannetBasics

/// A folder of bodies that knows what is in it: what earlier runs have brought, and how far this one has come.
///
/// A run goes by this record and not by what Redis remembers. It lists its URLs (``wants(_:)``): those that are not there are to be fetched. Those that
/// are there are looked at (``check()``), and what is missing or not what it was is to be fetched, too (``wantsAgain(_:)``). One run at a
/// time uses a folder.
package final class RecordedFolder: Sendable {
    let folder: BodyFolder
    let journal: Journal
    let demand: Demand
    private let state = Mutex(State())

    private struct State {
        var failure: OutputFailure?
        var counts = Counts()
    }

    /// Which of the files that are there will do.
    package enum Demand: Sendable, Equatable {
        case any
        /// Those that were written within this time.
        case younger(than: Duration)
        /// Only those of this run.
        case fresh
    }

    /// How far the run has come, in different URLs.
    package struct Counts: Sendable, Equatable {
        /// In its list, as far as that was read.
        package var listed = 0
        /// Listed once more; counted for lists that say nothing of what was listed before (``lists(_:)``).
        package var repeated = 0
        /// To be fetched.
        package var queued = 0
        /// Of those, fetched or given up.
        package var ended = 0
    }

    /// Where the record is kept.
    static let name = ".gannet"

    /// Reads what earlier runs have left.
    package static func open(_ folder: BodyFolder, demand: Demand = .any) async throws(OutputFailure) -> RecordedFolder {
        try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in try RecordedFolder(folder, demand: demand) }
    }

    init(_ folder: BodyFolder, demand: Demand = .any) throws(OutputFailure) {
        self.folder = folder
        self.demand = demand
        journal = try Journal(in: folder.ownFolder(Self.name))
    }

    /// The path as people may see it.
    package var displayPath: String { folder.displayPath }

    /// Where the manifest of the last completed run is.
    package var manifestPath: String { "\(folder.path)/\(Manifest.name)" }

    /// The folder for files of the run's own, which is there.
    package var ownPath: String { "\(folder.path)/\(Self.name)" }

    package var counts: Counts { state.withLock { $0.counts } }

    /// Takes a URL of the run's list; false where it needs no fetch, as far as is known: it is there, or listed before.
    package func wants(_ id: URLID) -> Bool {
        let (isNew, isWanted) = update(id) { [demand] entry in
            guard !entry.marks.contains(.listed) else { return (false, false) }
            entry.marks.insert(.listed)
            guard entry.offset == 0 || entry.marks.contains(.failed) || demand == .fresh else { return (true, false) }
            entry.marks.insert(.queued)
            return (true, true)
        }
        state.withLock { state in
            state.counts.listed += isNew ? 1 : 0
            state.counts.queued += isWanted ? 1 : 0
        }
        return isWanted
    }

    /// What the record says of a URL.
    func record(of id: URLID, _ reader: inout JournalReader) throws(OutputFailure) -> JobRecord? {
        guard let entry = journal[id], entry.offset > 0 else { return nil }
        return try reader.record(at: entry.offset)
    }

    /// Takes a URL of the list, whatever is known of it; false for one that was listed before.
    package func lists(_ id: URLID) -> Bool {
        let (isNew, _) = update(id) { entry in (entry.marks.update(with: .listed) == nil, false) }
        state.withLock { state in
            state.counts.listed += isNew ? 1 : 0
            state.counts.repeated += isNew ? 0 : 1
        }
        return isNew
    }

    /// Takes a URL of the run's list once more; true where its file was looked at in vain.
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

    /// Throws what kept the folder from taking note of the list.
    package func rethrow() throws(OutputFailure) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func update(_ id: URLID, _ change: @Sendable (inout URLTable.Entry) -> (Bool, Bool)) -> (Bool, Bool) {
        do throws(OutputFailure) {
            return try journal.update(id, change)
        } catch {
            state.withLock { $0.failure = $0.failure ?? error }
            return (false, false)
        }
    }
}
