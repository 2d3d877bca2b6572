package import GannetBase

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
        var memory: PayloadMemory
        /// Why nothing can be written any more.
        var end: ArchiveError?
    }

    let folder: String
    let prefix: String
    let options: WARCOptions
    let maker: RecordMaker
    private let now: @Sendable () -> Date
    private let state: Mutex<State>
    // A few compressors, which callers use in turn.
    private let packers = Mutex<[GzipPacker]>([])

    static let smallBody = 256 << 10
    // A long body is written in pieces of this size.
    private static let piece = 256 << 10

    /// - Parameter prefix: The beginning of all files' names: letters, digits, `-` and `_`.
    ///
    /// Files that an earlier run has left open stay as they are; `recover(_:prefix:)` completes them.
    package init(
        folder: String, prefix: String, options: WARCOptions = WARCOptions(), algorithm: DigestAlgorithm = .sha256,
        makeHasher: @escaping @Sendable () -> any ArchiveHasher, now: @escaping @Sendable () -> Date = { Date() },
        makeID: @escaping @Sendable () -> UUID = { UUID() }
    ) throws {
        guard ShardName.isPlain(prefix), prefix.utf8.count <= 100 else {
            throw ArchiveError.unfit("The prefix \(prefix.debugDescription) may have letters, digits, - and _ alone, up to 100.")
        }
        self.folder = folder
        self.prefix = prefix
        self.options = options
        self.now = now
        maker = RecordMaker(options: options, algorithm: algorithm, makeHasher: makeHasher, makeID: makeID)
        state = Mutex(State(memory: Self.emptyMemory(options)))
    }

    // MARK: Writing

    /// Writes the response, or a revisit of an equal one, and its request. After an error nothing of the exchange is in the file.
    @discardableResult
    package func write(_ exchange: WARCExchange) throws -> WARCPlace {
        let made = try maker.make(exchange)
        // An equal body is in the file already, or this one may be on its way there as the second. The second look is under the lock.
        let isKnown = try state.withLock { state in
            if let end = state.end { throw end }
            return made.digest.map { state.memory[$0] != nil } ?? false
        }
        var packed: PackedRecords?
        if !isKnown, exchange.body.count <= Self.smallBody { packed = try pack(made.records(revisiting: nil)) }
        return try state.withLock { state in
            // A new file may have no originals yet.
            try prepareFile(&state)
            let original = made.digest.flatMap { state.memory[$0] }
            if original != nil { packed = nil }
            let kind: WARCPlace.Kind = original != nil || made.isNotModified ? .revisit : .response
            let (offset, length, file) = try append(packed, original == nil ? nil : made.records(revisiting: original), made, to: &state)
            if let digest = made.digest, original == nil { state.memory.add(digest, made.original) }
            return WARCPlace(file: file, offset: offset, length: length, kind: kind, recordID: made.original.recordID)
        }
    }

    /// Writes a body that has no exchange. It revisits none, and none revisits it: readers find no head for it.
    @discardableResult
    package func write(_ resource: WARCResource) throws -> WARCPlace {
        let made = try maker.make(resource)
        let packed = resource.body.count <= Self.smallBody ? try pack(made.records(revisiting: nil)) : nil
        return try state.withLock { state in
            let (offset, length, file) = try append(packed, nil, made, to: &state)
            return WARCPlace(file: file, offset: offset, length: length, kind: .resource, recordID: made.original.recordID)
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
            state.withLock { state in state.end = state.end ?? .ended("The archive is given up, because a flush has failed: \(error)") }
            throw error
        }
    }

    /// Completes the last file. Nothing can be written afterwards. It may be called again, also after an error.
    package func close() throws {
        try state.withLock { state in
            try Self.complete(&state)
            state.end = state.end ?? .ended("The archive is closed.")
        }
    }

    // MARK: Files

    private static func emptyMemory(_ options: WARCOptions) -> PayloadMemory {
        PayloadMemory(limit: options.rememberedDigests, urlBytesLimit: options.rememberedURLBytes)
    }

    private static func complete(_ state: inout State) throws {
        guard let file = state.file else { return }
        try file.complete()
        state.file = nil
    }

    /// The file for the next exchange, which begins with its `warcinfo` record.
    private func prepareFile(_ state: inout State) throws {
        if let end = state.end { throw end }
        if let file = state.file, file.size >= options.fileSize || file.index.size >= options.indexSize { try Self.complete(&state) }
        if state.file != nil { return }
        if !options.revisitsEarlierFiles { state.memory = Self.emptyMemory(options) }
        let time = WARCTime(now())
        var file = try WARCFile(makingIn: folder, name: nextName(time))
        do { try file.append(pack([maker.information(file: file.name, time)]).bytes) } catch {
            try? file.remove()
            throw error
        }
        state.file = file
    }

    /// Numbers go on where earlier runs have ended, so names sort in the order of writing.
    private func nextName(_ time: WARCTime) throws -> String {
        let numbers = try ArchiveFolder.names(in: folder).compactMap { name -> Int? in
            let name = name.hasSuffix(WARCFile.open) ? String(name.dropLast(WARCFile.open.count)) : name
            guard let middle = ArchiveFolder.middle(of: name, from: prefix + "-", to: WARCFile.ending) else { return nil }
            return middle.split(separator: "-").last.flatMap { Int($0) }
        }
        let number = String((numbers.max() ?? -1) + 1)
        return "\(prefix)-\(time.timestamp)-\(String(repeating: "0", count: max(0, 5 - number.utf8.count)))\(number)\(WARCFile.ending)"
    }

    // MARK: Records

    private struct PackedRecords {
        var bytes: [UInt8] = []
        var lengths: [Int] = []
    }

    /// In memory.
    private func pack(_ records: [WARCRecord]) throws -> PackedRecords {
        try withPacker { packer in
            var packed = PackedRecords()
            for record in records {
                let start = packed.bytes.count
                try record.pack(by: packer) { packed.bytes += $0 }
                packed.lengths.append(packed.bytes.count - start)
            }
            return packed
        }
    }

    /// Appends all records of an exchange, or none. A small exchange is one write.
    private func append(
        _ packed: PackedRecords?, _ revisit: [WARCRecord]?, _ made: MadeExchange, to state: inout State
    ) throws -> (offset: Int, length: Int, file: String) {
        try prepareFile(&state)
        // Taken out, so that its index has one owner and is not copied.
        guard var file = state.file.take() else { throw ArchiveError.ended("There is no file.") }
        let start = file.size
        let records = revisit ?? made.records(revisiting: nil)
        var lengths: [Int] = []
        do {
            if let packed = try packed ?? revisit.map({ try pack($0) }) {
                try file.append(packed.bytes)
                lengths = packed.lengths
            } else {
                lengths = try stream(records, into: &file)
            }
        } catch {
            do { try file.cut(to: start) } catch let second {
                state.end = .ended("The archive is given up, because half a record could not be removed: \(second)")
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
        return (start, lengths[0], file.name)
    }

    private func stream(_ records: [WARCRecord], into file: inout WARCFile) throws -> [Int] {
        try withPacker { packer in
            var pending: [UInt8] = []
            var lengths: [Int] = []
            for record in records {
                var length = 0
                try record.pack(by: packer) { bytes in
                    pending += bytes
                    length += bytes.count
                    if pending.count >= Self.piece {
                        try file.append(pending)
                        pending.removeAll(keepingCapacity: true)
                    }
                }
                lengths.append(length)
            }
            try file.append(pending)
            return lengths
        }
    }

    private func withPacker<Result>(_ body: (GzipPacker) throws -> Result) throws -> Result {
        let packer = try packers.withLock { $0.popLast() } ?? GzipPacker(level: options.compressionLevel)
        defer { packers.withLock { if $0.count < 8 { $0.append(packer) } } }
        return try body(packer)
    }
}
