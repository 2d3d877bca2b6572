internal import GannetBase
package import GannetQueue

/// The record of a folder: a file to which each run appends how its URLs ended, and an index that each run builds anew.
///
/// When ``append(_:)`` returns, the record is in the file, though not yet on the disk. So a killed process loses nothing. URLs whose
/// records a power cut takes are fetched again.
package final class Journal: Sendable {
    private struct State {
        let file: JournalFile
        let table: URLTable
        /// The place of the next record.
        var end: Int
    }

    private let state: Mutex<State>

    /// The place of this run's first record.
    let start: Int

    /// Whether the file was none of a journal, so that this journal begins anew.
    let isReplaced: Bool

    package static let name = "journal"
    /// The least size in bytes of a journal that is compacted.
    package static let leastCompacted = 1 << 20

    /// Reads the journal, and compacts it if most of its records are superseded. Blocks.
    /// - Parameter folder: An existing folder that only the journal uses.
    package init(in folder: String, compactingFrom leastCompacted: Int = leastCompacted) throws {
        let path = "\(folder)/\(Self.name)"
        var scan = try JournalScan(of: JournalFile(path), in: folder)
        if scan.end >= leastCompacted, scan.lines / 2 > scan.table.count {
            try scan.rewrite(as: path + ".new", inPlaceOf: path)
            scan = try JournalScan(of: JournalFile(path), in: folder)
        }
        // An unfinished line of a killed run would run into the next record.
        try scan.file.truncate(to: scan.end)
        start = scan.end
        isReplaced = scan.file.isReplaced
        state = Mutex(State(file: scan.file, table: scan.table, end: scan.end))
    }

    /// Adds a record, which supersedes the earlier records of its URL. True if it is the URL's first record of this run.
    package func append(_ record: JobRecord) throws -> Bool {
        let line = record.line
        return try state.withLock { state in
            try state.file.write(line, at: state.end)
            let offset = state.end
            state.end += line.count
            return try state.table.update(record.id) { entry in
                defer { entry.marks.insert(.current) }
                entry.offset = offset
                if record.isFailed { entry.marks.insert(.failed) } else { entry.marks.remove(.failed) }
                return !entry.marks.contains(.current)
            }
        }
    }

    /// Returns when all records are on the disk.
    func flush() throws {
        try state.withLock { $0.file }.flush()
    }

    package subscript(id: URLID) -> URLTable.Entry? { state.withLock { $0.table[id] } }

    func update<Result: Sendable>(_ id: URLID, _ change: @Sendable (inout URLTable.Entry) -> Result) throws -> Result {
        try state.withLock { state in try state.table.update(id, change) }
    }

    func mark(_ id: URLID, _ marks: URLTable.Marks) throws {
        try update(id) { $0.marks.formUnion(marks) }
    }

    /// The records of earlier runs, including superseded ones.
    func earlierRecords() -> LineCursor {
        LineCursor(state.withLock { $0.file }, from: JournalFile.heading.count, to: start)
    }

    package func reader() -> JournalReader { JournalReader(state.withLock { $0.file }) }
}

/// An index over a journal, and the place behind its last complete line.
private struct JournalScan {
    let file: JournalFile
    let table: URLTable
    let end: Int
    let lines: Int

    init(of file: JournalFile, in folder: String) throws {
        let size = try file.size
        // A record has some 200 bytes. Too small a guess costs little.
        let table = try URLTable(in: folder, expecting: size / 200)
        var cursor = LineCursor(file, from: JournalFile.heading.count, to: size)
        var lines = 0
        var failure: (any Error)?
        while try cursor.next({ offset, line in
            lines += 1
            guard let (id, isFailed) = JobRecord.key(of: line) else { return }
            do {
                try table.update(id) { $0 = URLTable.Entry(offset: offset, marks: isFailed ? .failed : []) }
            } catch {
                failure = error
            }
        }) {
            if let failure { throw failure }
        }
        self.file = file
        self.table = table
        self.lines = lines
        end = cursor.offset
    }

    /// Replaces the journal by one that holds only the latest record of each URL.
    func rewrite(as path: String, inPlaceOf old: String) throws {
        let new = try JournalFile(path, isNew: true)
        var cursor = LineCursor(file, from: JournalFile.heading.count, to: end)
        var written = JournalFile.heading.count
        var batch: [UInt8] = []
        var hasMore = true
        while hasMore {
            hasMore = try cursor.next { offset, line in
                guard let (id, _) = JobRecord.key(of: line), table[id]?.offset == offset else { return }
                batch += line
                batch.append(UInt8(ascii: "\n"))
            }
            if batch.count >= Self.batchBytes || !hasMore {
                try new.write(batch, at: written)
                written += batch.count
                batch.removeAll(keepingCapacity: true)
            }
        }
        try new.replace(old)
    }

    private static let batchBytes = 1 << 20
}
