internal import GannetBase
internal import GannetHTTP
package import GannetQueue

/// The record of a folder: a file to which each run appends how its URLs ended, and an index that each run builds anew.
///
/// The file has a heading, and then lines (``JobRecord/line``). The folder's lock ensures that it has one writer. When ``append(_:)``
/// returns, the record is in the file, though not yet on the disk. So a killed process loses nothing. URLs whose records a power cut takes
/// are fetched again.
package final class Journal: Sendable {
    private struct State {
        let table: URLTable
        /// The place of the next record.
        var end: Int
    }

    private let file: LineFile
    private let state: Mutex<State>
    private let reader: Mutex<LineReader>

    /// The place of this run's first record.
    private let start: Int

    /// Whether the file was none of a journal, so that this journal begins anew.
    let isReplaced: Bool

    package static let name = "journal"
    package static let heading = Array("gannet journal 1\n".utf8)
    /// The least size in bytes of a journal that is compacted.
    package static let leastCompacted = 1 << 20

    /// Reads the journal, and compacts it if most of its records are superseded. Blocks.
    /// - Parameter folder: An existing folder that only the journal uses.
    package init(in folder: String, compactingFrom leastCompacted: Int = leastCompacted) throws {
        let path = "\(folder)/\(Self.name)"
        var (file, isReplaced) = try Self.open(path)
        var (table, lines, end) = try Self.index(file, in: folder)
        if end >= leastCompacted, lines / 2 > table.count {
            try Self.compact(file, table, upTo: end)
            (file, isReplaced) = try Self.open(path)
            (table, lines, end) = try Self.index(file, in: folder)
        }
        // An unfinished line of a killed run would run into the next record.
        try file.truncate(to: end)
        (self.file, self.isReplaced, start) = (file, isReplaced, end)
        state = Mutex(State(table: table, end: end))
        // Some 80 records, so that a single one costs little, and those of a list cost few reads.
        reader = Mutex(LineReader(file, window: 16 * 1024))
    }

    /// Opens the file, and makes it if it is missing. Its second value says whether it held something else that was shorter than a heading.
    private static func open(_ path: String) throws -> (LineFile, isReplaced: Bool) {
        let file = try LineFile(path, O_RDWR | O_CREAT | O_NOFOLLOW)
        var bytes = [UInt8](repeating: 0, count: heading.count)
        guard let count = bytes.withUnsafeMutableBytes({ Descriptor.read(into: $0, from: file.descriptor, at: 0) }) else {
            throw StorageFailure.refused("file", path, "read")
        }
        let isOther = !heading.starts(with: bytes[..<count])
        if count < heading.count {
            // The file is new, or a crash has left a part of the heading.
            try file.truncate(to: 0)
            try file.write(heading, at: 0)
        } else if isOther {
            throw StorageFailure(
                "The file \(path.escapedForDisplay) is not a journal of this version of gannet. Use another folder, or remove the file to have "
                    + "all URLs fetched again.")
        }
        return (file, isOther)
    }

    /// An index over a journal, the number of its lines, and the place behind the last complete line.
    private static func index(_ file: LineFile, in folder: String) throws -> (URLTable, lines: Int, end: Int) {
        // A record has some 200 bytes. Too small a guess costs little.
        let table = try URLTable(in: folder, expecting: (file.size ?? 0) / 200)
        var reader = LineReader(file, from: heading.count)
        var lines = 0
        while try reader.next({ offset, line in
            lines += 1
            guard let (id, isFailed) = JobRecord.key(of: line) else { return }
            try table.update(id) { $0 = URLTable.Entry(offset: offset, marks: isFailed ? .failed : []) }
        }) {}
        return (table, lines, reader.place)
    }

    /// Replaces a journal by one that holds only the latest record of each URL.
    private static func compact(_ file: LineFile, _ table: URLTable, upTo end: Int) throws {
        let new = try LineFile(file.path + ".new", O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW)
        var reader = LineReader(file, from: heading.count, to: end)
        var (written, batch) = (0, heading)
        var isMore = true
        while isMore {
            isMore = try reader.next { offset, line in
                guard let (id, _) = JobRecord.key(of: line), table[id]?.offset == offset else { return }
                batch += line
                batch.append(UInt8(ascii: "\n"))
            }
            guard batch.count >= 1 << 20 || !isMore else { continue }
            try new.write(batch, at: written)
            written += batch.count
            batch.removeAll(keepingCapacity: true)
        }
        guard SafeFile.publish(new.path, as: file.path) else { throw StorageFailure.refused("file", new.path, "written") }
    }

    /// Adds a record, which supersedes the earlier records of its URL. True if it is the URL's first record of this run.
    package func append(_ record: JobRecord) throws -> Bool {
        let line = record.line
        return try state.withLock { state in
            try file.write(line, at: state.end)
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
        guard fsync(file.descriptor) == 0 else { throw StorageFailure.refused("file", file.path, "written") }
    }

    package subscript(id: URLID) -> URLTable.Entry? { state.withLock { $0.table[id] } }

    func update<Result: Sendable>(_ id: URLID, _ change: @Sendable (inout URLTable.Entry) -> Result) throws -> Result {
        try state.withLock { state in try state.table.update(id, change) }
    }

    func mark(_ id: URLID, _ marks: URLTable.Marks) throws {
        try update(id) { $0.marks.formUnion(marks) }
    }

    /// The latest record of a URL.
    package func record(of id: URLID) throws -> JobRecord? { try record(self[id]) }

    /// The record of an entry, if it has one.
    func record(_ entry: URLTable.Entry?) throws -> JobRecord? {
        guard let entry, entry.offset > 0 else { return nil }
        return try reader.withLock { reader in
            var record: JobRecord?
            _ = try reader.line(at: entry.offset) { record = JobRecord(line: $0) }
            return record
        }
    }

    /// The lines of earlier runs, including those of superseded records.
    func earlierLines() -> LineReader { LineReader(file, from: Self.heading.count, to: start) }
}
