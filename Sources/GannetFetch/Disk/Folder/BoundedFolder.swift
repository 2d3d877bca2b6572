internal import GannetBase
internal import GannetHTTP

/// A folder of files that all its users keep within a limit, including processes on other machines.
///
/// A file is written under another name in `temporary/`, locked while its writer lives, and then renamed, so nobody ever sees half a file.
/// Nothing is flushed to the disk. After a power cut the files of the last seconds may be empty, torn or gone, so a reader checks a digest.
/// All calls block, and run on ``threads``.
final class BoundedFolder: Sendable {
    let path: String
    let options: DiskTierOptions
    let threads: FileThreads
    private let root = Mutex<OpenFolder?>(nil)
    private let state: Mutex<FolderState>
    private let writing: Mutex<(pause: WritePause, lastFailure: StorageFailure?)>
    private let events = Mutex(FolderCounts())
    private let now: @Sendable () -> ContinuousClock.Instant

    private static let temporaryName = "temporary"

    /// Starts to count the files in the background.
    /// - Parameter options: Valid ones.
    init(_ path: String, _ options: DiskTierOptions, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
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

    /// Changes a subfolder and what is known of it, so that a count which runs meanwhile is not believed.
    func changing<Result>(_ shard: UInt8, _ body: () throws -> Result) rethrows -> Result {
        withState { $0.beginChange(of: shard) }
        defer { withState { $0.endChange(of: shard) } }
        return try body()
    }

    // MARK: Folders

    /// The folder itself, which is made where it is missing.
    func makeRoot() throws -> OpenFolder {
        if let open = root.withLock({ $0 }) { return open }
        try OpenFolder.make(path)
        return try openRoot()
    }

    /// The subfolder of entries with this first byte; nil when there is none.
    func shard(_ shard: UInt8) throws -> OpenFolder? {
        try nilIfAbsent {
            let root = try openRoot()
            do throws(StorageFailure) {
                return try OpenFolder(EntryName.folder(shard), in: root)
            } catch {
                if error.isAbsence { forgetIfGone(root) }
                throw error
            }
        }
    }

    /// The folder of files that are being written; nil when there is none.
    func temporary() throws -> OpenFolder? {
        try nilIfAbsent { try OpenFolder(Self.temporaryName, in: openRoot()) }
    }

    func makeTemporary() throws -> OpenFolder {
        try OpenFolder(Self.temporaryName, in: makeRoot(), creating: true)
    }

    /// Closes the folder if it was removed. It holds nothing any more, and another folder may have its path.
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

    private func nilIfAbsent(_ open: () throws -> OpenFolder) throws -> OpenFolder? {
        do {
            return try open()
        } catch let failure as StorageFailure where failure.isAbsence {
            return nil
        }
    }

    // MARK: Writing, as callers see it

    /// Runs a write on one of the threads, unless writing is paused. It is dropped when too many wait.
    /// - Parameter bytes: The memory that the write holds until its turn.
    func write<Value: Sendable>(
        bytes: Int, _ work: @escaping @Sendable (FileThreads.Caller) throws -> Value
    ) async throws -> Value {
        if let failure = pause({ $0.isOver(at: $1) }) {
            note { $0.pausedWrites += 1 }
            throw failure
        }
        let outcome = await threads.run(.writes, bytes: bytes) { [self] caller in
            let result = Result { try work(caller) }
            if case .failure(let failure as StorageFailure) = result { noteFailure(failure) }
            return result
        }
        switch outcome {
        case .done(let result):
            lookIfDue()
            return try result.get()
        case .refused:
            note { $0.droppedWrites += 1 }
            throw StorageFailure(.crowded)
        case .left: throw StorageFailure(.cancelled)
        }
    }

    /// Runs a removal. It is never dropped, because a removed entry must not come back.
    func removing<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        switch await threads.run(.writes, mayBeRefused: false, { _ in Result { try body() } }) {
        case .done(let result): try result.get()
        case .refused: throw StorageFailure(.crowded)
        case .left: throw StorageFailure(.cancelled)
        }
    }

    /// Called before something is written; throws where writing is paused.
    func beginWriting() throws {
        if let failure = pause({ $0.begin(at: $1) }) { throw failure }
    }

    /// Called after something was written.
    func noteWritten() {
        note { $0.writes += 1 }
        writing.withLock { $0.pause.succeeded() }
    }

    private func noteFailure(_ failure: StorageFailure) {
        switch failure.reason {
        case .system:
            note { $0.failedWrites += 1 }
            let now = now()
            writing.withLock { writing in
                writing.lastFailure = failure
                writing.pause.failed(at: now)
            }
        case .paused: note { $0.pausedWrites += 1 }
        case .noRoom: note { $0.failedWrites += 1 }
        default: break
        }
    }

    /// The failure that paused writing; nil when `mayGoOn` says that it is not paused.
    private func pause(_ mayGoOn: (inout WritePause, ContinuousClock.Instant) -> Bool) -> StorageFailure? {
        let now = now()
        let cause = writing.withLock { writing in mayGoOn(&writing.pause, now) ? nil : writing.lastFailure }
        return cause.map { StorageFailure(.paused(errno: $0.errno), action: $0.action, path: $0.path) }
    }
}
