internal import GannetBasics
internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder of files that is kept within a limit by all who use it, processes of other machines included; what a file holds is its user's
/// affair.
///
/// A file is written under another name in `temporary/`, locked while its writer lives, and then renamed: nobody ever sees half of one.
/// Nothing is flushed to the disk, so after a power cut the files of the last seconds may be empty, torn or gone; whoever reads one
/// checks a digest. All that is done here blocks, and is done on ``threads``.
final class BoundedFolder: Sendable {
    let path: String
    let options: FolderOptions
    let threads: FileThreads
    /// What the names of entries end in.
    let kind: String
    private let root = Mutex<OpenFolder?>(nil)
    private let state: Mutex<FolderState>
    private let writing: Mutex<(pause: WritePause, lastFailure: StorageFailure?)>
    private let events = Mutex(FolderCounts())
    private let now: @Sendable () -> ContinuousClock.Instant

    private static let temporaryName = "temporary"

    /// Begins to look at what is there, and waits for nothing.
    init(
        _ path: String, kind: String, _ options: FolderOptions, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws(InvalidOptions) {
        try options.validate()
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.kind = kind
        self.options = options
        self.now = now
        threads = FileThreads(
            .init(
                threads: options.threads, reads: options.maximumWaitingReads, writes: options.maximumWaitingWrites,
                bytes: options.maximumWaitingBytes))
        var random = SystemRandomNumberGenerator()
        state = Mutex(FolderState(limit: options.limit, maximumFiles: options.maximumFiles, random: &random))
        writing = Mutex((WritePause(longest: options.longestPause), nil))
        lookIfDue()
    }

    var usage: FolderUsage { state.withLock { $0.usage } }

    var counts: FolderCounts { events.withLock { $0 } }

    func note(_ event: (inout FolderCounts) -> Void) { events.withLock { event(&$0) } }

    func withState<Result: Sendable>(_ body: (inout FolderState) -> Result) -> Result { state.withLock { body(&$0) } }

    // MARK: Folders

    /// The folder itself, made where it is missing.
    func makeRoot() throws(StorageFailure) -> OpenFolder {
        if let open = root.withLock({ $0 }) { return open }
        try OpenFolder.make(path)
        return try openRoot()
    }

    /// The folder that entries of a first byte are in; nil when there is none.
    func shard(_ shard: UInt8) throws(StorageFailure) -> OpenFolder? {
        do throws(StorageFailure) {
            let root = try openRoot()
            do throws(StorageFailure) {
                return try OpenFolder(EntryName.folder(shard), in: root)
            } catch {
                if error.isAbsence { forgetIfGone(root) }
                throw error
            }
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }

    /// Where files are while they are written; nil when there is no such folder.
    func temporary() throws(StorageFailure) -> OpenFolder? {
        do throws(StorageFailure) {
            return try OpenFolder(Self.temporaryName, in: openRoot())
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }

    func makeTemporary() throws(StorageFailure) -> OpenFolder {
        try OpenFolder(Self.temporaryName, in: makeRoot(), creating: true)
    }

    /// A folder that was removed while it was open holds nothing any more, and another may have its path by now.
    func forgetIfGone(_ open: OpenFolder) {
        guard !open.isThere else { return }
        root.withLock { if $0 === open { $0 = nil } }
    }

    private func openRoot() throws(StorageFailure) -> OpenFolder {
        if let open = root.withLock({ $0 }) { return open }
        let opened = try OpenFolder(path)
        return root.withLock { current in
            if let current { return current }
            current = opened
            return opened
        }
    }

    // MARK: Writing, as callers see it

    /// Runs what may write on one of the threads, unless writing is paused.
    /// - Parameters:
    ///   - bytes: What the write holds in memory until its turn.
    ///   - mayBeDropped: Whether it is dropped when too many wait.
    func write<Value: Sendable>(
        bytes: Int, mayBeDropped: Bool, _ work: @escaping @Sendable (FileThreads.Caller) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        if let failure = pause({ $0.isOver(at: $1) }) {
            note { $0.pausedWrites += 1 }
            throw failure
        }
        let outcome = await threads.run(.writes, bytes: bytes, mayBeRefused: mayBeDropped) { [self] caller in
            let result = Result { () throws(StoreFailure) in try work(caller) }
            if case .failure(let failure) = result { noteFailure(failure) }
            return result
        }
        switch outcome {
        case .done(let result):
            lookIfDue()
            return try result.get()
        case .refused:
            note { $0.droppedWrites += 1 }
            throw .crowded
        case .left: throw .cancelled
        }
    }

    /// To be called before something is written.
    func beginWriting() throws(StoreFailure) {
        if let failure = pause({ $0.begin(at: $1) }) { throw failure }
    }

    /// To be called when something was written.
    func noteWritten() {
        note { $0.writes += 1 }
        writing.withLock { $0.pause.succeeded() }
    }

    private func noteFailure(_ failure: StoreFailure) {
        switch failure {
        case .system(let cause):
            note { $0.failedWrites += 1 }
            let now = now()
            writing.withLock { writing in
                writing.lastFailure = cause
                writing.pause.failed(at: now)
            }
        case .paused: note { $0.pausedWrites += 1 }
        case .noRoom, .wrongDigest, .source: note { $0.failedWrites += 1 }
        case .tooLarge, .crowded, .cancelled: break
        }
    }

    /// Why writing is paused; nil when `mayGoOn` says that it is not.
    private func pause(_ mayGoOn: (inout WritePause, ContinuousClock.Instant) -> Bool) -> StoreFailure? {
        let now = now()
        let cause = writing.withLock { writing in mayGoOn(&writing.pause, now) ? nil : writing.lastFailure }
        return cause.map { .paused($0) }
    }
}

extension StorageFailure {
    /// What was looked for is not there: it never was, or it was removed with its folder.
    var isAbsence: Bool { errno == ENOENT || errno == ESTALE }

    /// The file system, or the user's share of it, is full.
    var isFullDisk: Bool { errno == ENOSPC || errno == EDQUOT }
}
