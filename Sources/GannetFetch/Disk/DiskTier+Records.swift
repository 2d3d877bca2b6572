internal import GannetHTTP

// Records and their files. Each call blocks.
extension DiskTier {
    /// The bytes of the first read: all of a small record.
    private static let firstRead = 64 << 10

    func readRecord(
        _ key: DiskKey, in file: borrowing FoundFile, for caller: FileThreads.Caller
    ) throws -> BoundedFolder.Reading<DiskRecord> {
        guard file.size <= largestRecord else { return .useless }
        let header: RecordHeader
        let bytes: [UInt8]
        let metadata: RecordMetadata
        switch try readStart(key, of: file) {
        case .good(let start): (header, bytes, metadata) = start
        case .damaged: return .damaged
        case .useless: return .useless
        }
        let isAllThere = bytes.count == header.fileSize
        // The part of a large body that has been read is read again, so that nothing of the body is copied.
        guard
            let body = isAllThere ? Array(bytes[header.bodyOffset...]) : try file.bytes(header.bodySize, at: header.bodyOffset, for: caller)
        else { return caller.isGone ? .useless : .damaged }
        guard SHA256Digest(of: body) == header.bodyDigest else { return .damaged }
        return .good(DiskRecord(metadata: metadata.bytes, body: body, bodyDigest: header.bodyDigest))
    }

    func writeRecord(
        _ key: DiskKey, _ metadata: [UInt8], _ body: [UInt8], _ digest: SHA256Digest, for caller: FileThreads.Caller
    ) throws {
        let header = RecordHeader(key: key, metadataSize: metadata.count, bodySize: body.count, bodyDigest: digest)
        var start = header.encoded + RecordMetadata(number: 0, sequence: 1, bytes: metadata).encoded(in: header)
        start += [UInt8](repeating: 0, count: header.bodyOffset - start.count)
        // A small record takes one call of the system.
        let isSmall = header.copies == 1
        if isSmall { start += body }
        try folder.store(name(of: key), size: header.fileSize) { file in
            try file.write(start, for: caller)
            if !isSmall { try file.write(body, for: caller) }
        }
    }

    func update(_ key: DiskKey, _ metadata: [UInt8], _ bodyDigest: SHA256Digest, for caller: FileThreads.Caller) throws -> Bool {
        if let isDone = try updateInPlace(key, metadata, bodyDigest) { return isDone }
        let old = try folder.find(name(of: key)) { file in try readRecord(key, in: file, for: caller) }
        guard let old, old.bodyDigest == bodyDigest else { return false }
        try writeRecord(key, metadata, old.body, bodyDigest, for: caller)
        return true
    }

    /// False where the record with this body is not there; nil where the record has to be written anew.
    private func updateInPlace(_ key: DiskKey, _ metadata: [UInt8], _ bodyDigest: SHA256Digest) throws -> Bool? {
        let name = name(of: key)
        guard let shard = try folder.shard(name.shard), let file = try FoundFile(name.file, in: shard, forWriting: true) else {
            return false
        }
        // A file with other names belongs to others too. Of two processes that change a file at the same time, the lock lets one write a
        // new file. Where there are no locks, the copy that both write is torn, and the older copy goes on counting.
        guard file.links == 1, file.lock() != false, case .good(let start) = try readStart(key, of: file) else { return nil }
        guard start.header.bodyDigest == bodyDigest else { return false }
        guard let next = start.metadata.successor(metadata, in: start.header) else { return nil }
        try folder.beginWriting()
        try file.write(next.encoded(in: start.header), at: start.header.offset(ofCopy: next.number))
        folder.noteWritten()
        return true
    }

    /// The header, the copy of the metadata that counts, and all bytes that were read for them.
    private func readStart(
        _ key: DiskKey, of file: borrowing FoundFile
    ) throws -> BoundedFolder.Reading<(header: RecordHeader, bytes: [UInt8], metadata: RecordMetadata)> {
        guard var bytes = try file.bytes(min(file.size, Self.firstRead), at: 0) else { return .damaged }
        guard let header = RecordHeader.read(bytes, key: key, fileSize: file.size) else { return .damaged }
        if header.bodyOffset > bytes.count {
            guard header.bodyOffset <= largestStart else { return .useless }
            guard let rest = try file.bytes(header.bodyOffset - bytes.count, at: bytes.count) else { return .damaged }
            bytes += rest
        }
        guard let metadata = RecordMetadata.read(bytes, in: header) else { return .damaged }
        return .good((header, bytes, metadata))
    }

    // Processes that share the folder may have larger limits. Reads are bounded by the limits of this process.
    private var largestStart: Int { 4 * (options.maximumMetadata + 1024) }
    private var largestRecord: Int { options.largestFile + largestStart }
}
