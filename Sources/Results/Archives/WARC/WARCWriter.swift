package import GannetBase
internal import GannetHTTP

/// Writes exchanges into WARC files in a folder. Docs/ARCHIVES.md says what the files are.
///
/// Any thread may call it, and a call waits for the disk. Bodies up to `smallBody` are packed by the callers beside each other; longer ones one
/// after another, straight into the file.
///
/// An exchange is durable when `flush()` or `close()` has returned after its `write` did. Before that a kill of the process loses only exchanges
/// whose `write` has not returned, and a loss of power may lose all since the last flush.
package final class WARCWriter: Sendable {
    private struct State {
        var file: WARCFile?
        /// The records of the file that others may revisit, by the digests of their bodies. The bound of its index bounds them.
        var originals: [[UInt8]: MadeExchange.Original] = [:]
        /// Why nothing can be written any more.
        var end: StorageFailure?
    }

    private let folder: String
    private let prefix: String
    private let size: Int
    private let indexSize: Int
    private let information: [(name: String, value: String)]
    private let makeID: @Sendable () -> UUID
    private let now: @Sendable () -> Date
    private let state: Mutex<State>
    // A few compressors, which callers use in turn.
    private let packers = Mutex<[GzipPacker]>([])

    static let smallBody = 256 << 10
    // A long body is written in pieces of this size.
    private static let piece = 256 << 10
    /// zlib's.
    private static let compressionLevel = 6

    /// Completes the files that a killed command has left, and begins a new one with the first exchange.
    static func open(
        _ folder: String, size: Int, information: [(name: String, value: String)]
    ) throws -> (writer: WARCWriter, recovered: [RecoveredFile]) {
        let prefix = "gannet"
        let recovered = try recover(folder, prefix: prefix)
        return (WARCWriter(folder: folder, prefix: prefix, size: size, information: information), recovered)
    }

    /// Files that an earlier run has left open stay as they are; `recover(_:prefix:)` completes them.
    /// - Parameters:
    ///   - prefix: The beginning of all files' names: letters, digits, `-` and `_`.
    ///   - size: A file ends with the exchange that reaches it, in bytes.
    ///   - indexSize: A file ends earlier when its index has so many bytes, because the index is sorted in memory.
    ///   - information: Further fields of each file's `warcinfo` record.
    package init(
        folder: String, prefix: String, size: Int = 1_000_000_000, indexSize: Int = 32 << 20,
        information: [(name: String, value: String)] = [], now: @escaping @Sendable () -> Date = { Date() },
        makeID: @escaping @Sendable () -> UUID = { UUID() }
    ) {
        (self.folder, self.prefix, self.size, self.indexSize) = (folder, prefix, size, indexSize)
        self.information = [(name: "software", value: "gannet/\(Version.current)")] + information
        self.now = now
        self.makeID = makeID
        state = Mutex(State())
    }

    // MARK: Writing

    /// Writes the response, or a revisit of an equal one, and its request. After an error nothing of the exchange is in the file.
    @discardableResult
    package func write(_ exchange: WARCExchange) throws -> PackedPlace {
        let made = try MadeExchange(exchange, makeID: makeID)
        let digest = made.comparableDigest
        // An equal body is in the file already, or this one may be on its way there as the second. The second look is under the lock.
        let isKnown = try state.withLock { state in
            if let end = state.end { throw end }
            return digest.map { state.originals[$0] != nil } ?? false
        }
        var packed: (bytes: [UInt8], lengths: [Int])?
        if !isKnown, exchange.body.count <= Self.smallBody { packed = try pack(made.records(revisiting: nil)) }
        return try state.withLock { state in
            // A new file has no originals yet.
            try prepareFile(&state)
            let original = digest.flatMap { state.originals[$0] }
            let place = try append(made.records(revisiting: original), original == nil ? packed : nil, to: &state)
            if let digest, original == nil { state.originals[digest] = made.original }
            return place
        }
    }

    /// Returns when everything whose `write` has returned is on the disk.
    package func flush() throws {
        let file = try state.withLock { state in
            if let end = state.end { throw end }
            return state.file?.file
        }
        do { try file?.sync() } catch {
            // The system reports a lost page once. A second flush would succeed without it.
            state.withLock { state in
                state.end = state.end ?? StorageFailure("The archive is given up, because a flush has failed: \(error)")
            }
            throw error
        }
    }

    /// Completes the last file. Nothing can be written afterwards. It may be called again, also after an error.
    package func close() throws {
        try state.withLock { state in
            try Self.complete(&state)
            state.end = state.end ?? StorageFailure("The archive is closed.")
        }
    }

    // MARK: Files

    private static func complete(_ state: inout State) throws {
        guard let file = state.file else { return }
        try file.complete()
        state.file = nil
    }

    /// The file for the next exchange, which begins with its `warcinfo` record. It stands for itself: other files may be lost.
    private func prepareFile(_ state: inout State) throws {
        if let end = state.end { throw end }
        if let file = state.file, file.size >= size || file.index.size >= indexSize { try Self.complete(&state) }
        if state.file != nil { return }
        state.originals = [:]
        let date = WARCRecord.date(now())
        var file = try WARCFile(makingIn: folder, name: nextName(date))
        do {
            try file.append(pack([WARCRecord(ofFile: file.name, makeID(), date, information: information)]).bytes)
        } catch {
            try? file.remove()
            throw error
        }
        state.file = file
    }

    /// Numbers go on where earlier runs have ended, so names sort in the order of writing.
    private func nextName(_ date: String) throws -> String {
        let numbers = try ArchiveFolder.names(in: folder).compactMap { name -> Int? in
            let name = name.hasSuffix(ArchiveFolder.open) ? String(name.dropLast(ArchiveFolder.open.count)) : name
            guard let middle = ArchiveFolder.middle(of: name, from: prefix + "-", to: WARCFile.ending) else { return nil }
            return middle.split(separator: "-").last.flatMap { Int($0) }
        }
        let number = ArchiveFolder.digits((numbers.max() ?? -1) + 1)
        return "\(prefix)-\(WARCRecord.timestamp(date))-\(number)\(WARCFile.ending)"
    }

    // MARK: Records

    /// Appends all records of an exchange, or none. A small exchange is one write.
    /// - Parameter packed: The records, where they are packed already.
    private func append(
        _ records: [WARCRecord], _ packed: (bytes: [UInt8], lengths: [Int])?, to state: inout State
    ) throws -> PackedPlace {
        // Taken out, so that its index has one owner and is not copied.
        guard var file = state.file.take() else { throw StorageFailure("There is no file.") }
        let start = file.size
        var lengths: [Int] = []
        do {
            if let packed {
                try file.append(packed.bytes)
                lengths = packed.lengths
            } else {
                lengths = try pack(records, piece: Self.piece) { try file.append($0) }
            }
        } catch {
            do { try file.cut(to: start) } catch let second {
                state.end = StorageFailure("The archive is given up, because half a record could not be removed: \(second)")
            }
            state.file = file
            throw error
        }
        var offset = start
        for (record, length) in zip(records, lengths) {
            if let capture = record.capture { file.add(capture, offset: offset, length: length) }
            offset += length
        }
        state.file = file
        return .record(file: file.name, offset: start)
    }

    /// In memory.
    private func pack(_ records: [WARCRecord]) throws -> (bytes: [UInt8], lengths: [Int]) {
        var bytes: [UInt8] = []
        let lengths = try pack(records, piece: .max) { bytes = $0 }
        return (bytes, lengths)
    }

    /// Hands over the packed records in pieces of this size or more, and returns the length of each record.
    private func pack(_ records: [WARCRecord], piece: Int, _ take: ([UInt8]) throws -> Void) throws -> [Int] {
        let packer = try packers.withLock { $0.popLast() } ?? GzipPacker(level: Self.compressionLevel)
        defer { packers.withLock { if $0.count < 8 { $0.append(packer) } } }
        var pending: [UInt8] = []
        let lengths = try records.map { record in
            var length = 0
            try record.pack(by: packer) { bytes in
                pending += bytes
                length += bytes.count
                guard pending.count >= piece else { return }
                try take(pending)
                pending.removeAll(keepingCapacity: true)
            }
            return length
        }
        try take(pending)
        return lengths
    }
}
