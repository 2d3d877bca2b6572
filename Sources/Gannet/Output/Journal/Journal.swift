internal import ClusterState
internal import GannetBasics

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a folder's runs have come to, URL by URL: a file that is only added to, and an index over it that each run makes anew.
///
/// A record is in the file (though not yet on the disk) when ``append(_:marking:)`` returns: a process that is killed loses none. What a power
/// cut takes is fetched again.
final class Journal: Sendable {
    private struct State {
        let file: JournalFile
        let table: URLTable
        /// Where the next record goes.
        var end: Int
    }

    private let state: Mutex<State>

    /// Where the records of this run begin.
    let start: Int

    static let name = "journal"
    /// In bytes; what is smaller is not worth the trouble.
    static let leastCompacted = 1 << 20

    /// Reads what is there. Blocks.
    /// - Parameter folder: The journal's own, which is there and which nobody else uses.
    init(in folder: String, compactingFrom leastCompacted: Int = leastCompacted) throws(OutputFailure) {
        let path = "\(folder)/\(Self.name)"
        var scan = try JournalScan(of: JournalFile(path), in: folder)
        if scan.end >= leastCompacted, scan.lines / 2 > scan.table.count {
            try scan.rewrite(as: path + ".new", inPlaceOf: path)
            scan = try JournalScan(of: JournalFile(path), in: folder)
        }
        // The line that a killed run was writing would run together with the next one.
        try scan.file.truncate(to: scan.end)
        start = scan.end
        state = Mutex(State(file: scan.file, table: scan.table, end: scan.end))
    }

    /// Adds a record, which is what is known of its URL from now on. True when it is the first of this run.
    func append(_ record: JobRecord) throws(OutputFailure) -> Bool {
        let line = record.line
        return try state.withLock { state throws(OutputFailure) in
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

    subscript(id: URLID) -> URLTable.Entry? { state.withLock { $0.table[id] } }

    func update<Result: Sendable>(_ id: URLID, _ change: @Sendable (inout URLTable.Entry) -> Result) throws(OutputFailure) -> Result {
        try state.withLock { state throws(OutputFailure) in try state.table.update(id, change) }
    }

    func mark(_ id: URLID, _ marks: URLTable.Marks) throws(OutputFailure) {
        try update(id) { $0.marks.formUnion(marks) }
    }

    /// Goes through the records that were there when this run began, superseded ones among them.
    func earlierRecords() -> JournalCursor {
        JournalCursor(state.withLock { $0.file }, from: JournalFile.heading.count, to: start)
    }

    /// Reads records one by one.
    func reader() -> JournalReader { JournalReader(state.withLock { $0.file }) }
}
