package import ClusterState
internal import Threads

/// A folder of bodies that knows what is in it: what earlier runs have brought, and how far this one has come.
///
/// A run goes by this record and not by what Redis remembers. It lists its URLs (``wants(_:)``): those that are not there are to be fetched. Those that
/// are there are looked at (``check()``), and what is missing or not what it was is to be fetched, too (``wantsAgain(_:)``). One run at a
/// time uses a folder.
package final class RecordedFolder: Sendable {
    let folder: BodyFolder
    let journal: Journal
    private let failure = Mutex<OutputFailure?>(nil)

    /// Where the record is kept.
    static let name = ".gannet"

    /// Reads what earlier runs have left.
    package static func open(_ folder: BodyFolder) async throws(OutputFailure) -> RecordedFolder {
        try await FileThread.run { () throws(OutputFailure) in try RecordedFolder(folder) }
    }

    init(_ folder: BodyFolder) throws(OutputFailure) {
        self.folder = folder
        journal = try Journal(in: folder.ownFolder(Self.name))
    }

    /// The path as people may see it.
    package var displayPath: String { folder.displayPath }

    /// The folder for files of the run's own, which is there.
    package var ownPath: String { "\(folder.path)/\(Self.name)" }

    /// Takes a URL of the run's list; false where it needs no fetch, as far as is known: it is there, or listed before.
    package func wants(_ id: URLID) -> Bool {
        update(id) { entry in
            let isListed = entry.marks.contains(.listed)
            entry.marks.insert(.listed)
            // In an earlier run it failed, or in this one it was there when it was listed.
            guard !isListed, entry.offset == 0 || entry.marks.contains(.failed) else { return false }
            entry.marks.insert(.queued)
            return true
        }
    }

    /// Takes a URL of the run's list once more; true where its file was looked at in vain.
    package func wantsAgain(_ id: URLID) -> Bool {
        update(id) { entry in
            guard entry.marks.contains(.broken), !entry.marks.contains(.queued) else { return false }
            entry.marks.insert(.queued)
            return true
        }
    }

    /// Throws what kept the folder from taking note of the list.
    package func rethrow() throws(OutputFailure) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// How many different URLs the list holds so far.
    package var listed: Int { journal.count { $0.contains(.listed) } }

    /// How many were put into the queue and have not ended, as far as this folder was told.
    package var unended: Int { journal.count { $0.contains(.queued) && !$0.contains(.current) } }

    private func update(_ id: URLID, _ change: (inout URLTable.Entry) -> Bool) -> Bool {
        do throws(OutputFailure) {
            return try journal.update(id, change)
        } catch {
            failure.withLock { $0 = $0 ?? error }
            return false
        }
    }
}
