internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import Lists

/// Moves bodies into shards or archives. Docs/ARCHIVES.md says what the files are.
///
/// A run packs bodies as their jobs end (``PackedBodies``). The manifest packs all others, in the order of its rows. A body stays a file of the folder
/// until its shard or archive is on the disk. So a kill costs no fetch: the next command packs the files that are left. A URL is packed once, with the
/// first row that has it.
package final class BodyPacking: Sendable {
    private let folder: RecordedFolder
    private let packer: any BodyPacker
    /// Packed bodies that may not be on the disk yet. Nil after an error, which may have taken the open shard: then bodies stay files, and the next
    /// command packs them.
    private let gathered: Mutex<Gathered?> = Mutex(Gathered())

    private struct Gathered {
        /// In the order of their packing, each with the path of the body's own file. The manifest reads records that lie close together faster.
        private(set) var bodies: [(record: JobRecord, file: String)] = []
        private var places: [URLID: Int] = [:]

        subscript(id: URLID) -> JobRecord? { places[id].map { bodies[$0].record } }

        mutating func add(_ record: JobRecord, file: String) {
            places[record.id] = bodies.count
            bodies.append((record, file))
        }
    }

    /// Completes what a killed command has left.
    /// - Parameters:
    ///   - samples: The most samples of a shard.
    ///   - tell: Gets the name of each shard that was cut off and is set aside.
    package static func intoShards(
        _ folder: RecordedFolder, samples: Int, tell: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> BodyPacking {
        try await OwnedThread.run(name: "gannet-packing") {
            let damaged = try ShardWriter.setAsideDamaged(in: folder.folder.path)
            let writer = try ShardWriter(folder: folder.folder.path, samples: samples)
            damaged.forEach(tell)
            return try BodyPacking(folder, writer)
        }
    }

    /// Completes what a killed command has left.
    /// - Parameters:
    ///   - size: An archive ends with the record that reaches it, in bytes.
    ///   - information: Further fields of each file's `warcinfo` record.
    package static func intoArchives(
        _ folder: RecordedFolder, size: Int, information: [(name: String, value: String)] = []
    ) async throws -> BodyPacking {
        try await OwnedThread.run(name: "gannet-packing") {
            try BodyPacking(folder, ArchivePacker(into: folder.folder, size: size, information: information))
        }
    }

    private init(_ folder: RecordedFolder, _ packer: any BodyPacker) throws {
        self.folder = folder
        self.packer = packer
        var found: [(record: JobRecord, file: String)] = []
        for (id, place) in try packer.unrecorded() {
            guard var record = try folder.journal.record(of: id), !record.isFailed, !record.isPacked else { continue }
            let file = record.file
            record.file = place.text
            found.append((record, file))
        }
        try settle(found)
    }

    /// Whether a body is packed with its exchanges, where the folder has these.
    var takesExchanges: Bool { packer.takesExchanges }

    /// Packs the body of a row, where it has one, and notes the place in its line.
    func place(_ line: inout ManifestLine) throws {
        guard let record = line.record, !record.isPacked, line.hasBody || hasFailedExchanges(record) else { return }
        line.record = try gathered.withLock { [line] gathered in
            if let known = gathered?[record.id] { return known }
            guard var open = gathered.take() else { return record }
            guard let packing = try packer.pack(record, of: line) else {
                gathered = open
                return record
            }
            var packed = record
            packed.file = packing.place.text
            open.add(packed, file: record.file)
            if packing.isDurable {
                try settle(open.bodies)
                open = Gathered()
            }
            gathered = open
            return packed
        }
    }

    /// Packs the body of a job of this run that has ended.
    func pack(_ id: URLID, _ row: Row) throws {
        guard let record = try folder.journal.record(of: id), !record.isFailed, !record.isUnfit else { return }
        var line = ManifestLine(row, .fetched, record)
        try place(&line)
    }

    /// A row whose body is lost has no exchanges either: they are those of the lost body.
    private func hasFailedExchanges(_ record: JobRecord) -> Bool {
        takesExchanges && record.isFailed && ExportLoss(rawValue: record.errorClass) == nil && folder.folder.hasExchanges(of: record.id)
    }

    /// Puts everything on the disk. Nothing can be placed afterwards.
    func finish() throws {
        try gathered.withLock { gathered in
            guard let open = gathered.take() else { return }
            try packer.finish()
            try settle(open.bodies)
            gathered = Gathered()
        }
        try removeLeftovers()
    }

    /// Notes where bodies are, and removes their files.
    private func settle(_ packed: [(record: JobRecord, file: String)]) throws {
        guard !packed.isEmpty else { return }
        for body in packed { _ = try folder.journal.append(body.record) }
        try folder.journal.flush()
        for body in packed {
            if !body.file.isEmpty { folder.folder.remove(body.file) }
            if takesExchanges { folder.folder.removeExchanges(of: body.record.id) }
        }
    }

    /// Removes files of packed bodies that a kill or a loss of power has left, and empty folders.
    ///
    /// Users may keep files of their own beside bodies, with like names. So a file goes only if an earlier record of its URL names it.
    private func removeLeftovers() throws {
        var found: Set<String> = []
        for name in BodyName.fanOutFolders {
            for file in folder.folder.files(in: name) {
                guard let id = URLID(ofFile: file), try folder.journal.record(of: id)?.isPacked == true else { continue }
                found.insert("\(name)/\(file)")
            }
        }
        if !found.isEmpty {
            var lines = folder.journal.earlierLines()
            while try lines.next({ _, line in
                if let record = JobRecord(line: line), found.remove(record.file) != nil { folder.folder.remove(record.file) }
            }) {}
        }
        for name in BodyName.fanOutFolders { folder.folder.removeFolderIfEmpty(name) }
        if takesExchanges { try folder.folder.removeExchanges { try folder.journal.record(of: $0)?.isPacked == true } }
    }
}

extension URLID {
    /// The id at the beginning of a body's file name.
    init?(ofFile name: String) {
        guard name.utf8.count >= 32, let bytes = [UInt8](hexadecimal: name.utf8.prefix(32)) else { return nil }
        self.init(bytes)
    }
}
