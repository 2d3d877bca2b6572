internal import HTTPEngine

// Records and their files; each call blocks.
extension DiskTier {
    /// What is read at once: all of a small record.
    private static let firstRead = 64 << 10

    func readRecord(
        _ key: DiskKey, in file: borrowing FoundFile, for caller: FileThreads.Caller
    ) throws(StorageFailure) -> BoundedFolder.Reading<DiskRecord> {
        guard file.size <= largestRecord else { return .useless }
        let header: RecordHeader
        let bytes: [UInt8]
        let slot: RecordSlot
        switch try readStart(key, of: file) {
        case .good(let start): (header, bytes, slot) = start
        case .damaged: return .damaged
        case .useless: return .useless
        }
        let isAllThere = bytes.count == header.fileSize
        // Of a large body nothing is copied: what was read of it is read again.
        guard
            let body = isAllThere ? Array(bytes[header.bodyOffset...]) : try file.bytes(header.bodySize, at: header.bodyOffset, for: caller)
        else { return caller.isGone ? .useless : .damaged }
        guard SHA256Digest(of: body) == header.bodyDigest else { return .damaged }
        return .good(DiskRecord(metadata: slot.metadata, body: body, bodyDigest: header.bodyDigest))
    }

    func writeRecord(
        _ key: DiskKey, _ metadata: [UInt8], _ body: [UInt8], _ digest: SHA256Digest, for caller: FileThreads.Caller
    ) throws(StoreFailure) {
        let header = RecordHeader(key: key, metadataSize: metadata.count, bodySize: body.count, bodyDigest: digest)
        var start = header.encoded + RecordSlot(number: 0, sequence: 1, metadata: metadata).encoded(in: header)
        start += [UInt8](repeating: 0, count: header.bodyOffset - start.count)
        // One call for a small record.
        let isSmall = header.slots == 1
        if isSmall { start += body }
        try folder.store(name(of: key), size: header.fileSize) { (file) throws(StoreFailure) in
            try file.write(start, for: caller)
            if !isSmall { try file.write(body, for: caller) }
        }
    }

    func update(
        _ key: DiskKey, _ metadata: [UInt8], _ bodyDigest: SHA256Digest, for caller: FileThreads.Caller
    ) throws(StoreFailure) -> Bool {
        switch try updateInPlace(key, metadata, bodyDigest) {
        case .done: return true
        case .otherBody: return false
        case .refused(let failure): throw failure
        case .impossible: break
        }
        let old = try StoreFailure.wrapping { () throws(StorageFailure) in
            try folder.find(name(of: key)) { (file) throws(StorageFailure) in try readRecord(key, in: file, for: caller) }
        }
        guard let old, old.bodyDigest == bodyDigest else { return false }
        try writeRecord(key, metadata, old.body, bodyDigest, for: caller)
        return true
    }

    private enum Update {
        case done, otherBody, impossible
        case refused(StoreFailure)
    }

    private func updateInPlace(_ key: DiskKey, _ metadata: [UInt8], _ bodyDigest: SHA256Digest) throws(StoreFailure) -> Update {
        let name = name(of: key)
        do throws(StorageFailure) {
            guard let shard = try folder.shard(name.shard), let file = try FoundFile(name.file, in: shard, forWriting: true) else {
                return .otherBody
            }
            // A file that has other names is somebody else's, too. Of two that change a file at the same time one has to write a new one; where
            // there are no locks, what both write is torn, and the older slot goes on counting.
            guard file.links == 1, file.lock() != false, case .good(let start) = try readStart(key, of: file) else { return .impossible }
            guard start.header.bodyDigest == bodyDigest else { return .otherBody }
            guard let slot = start.slot.successor(metadata, in: start.header) else { return .impossible }
            do throws(StoreFailure) { try folder.beginWriting() } catch { return .refused(error) }
            try file.write(slot.encoded(in: start.header), at: start.header.offset(ofSlot: slot.number))
            folder.noteWritten()
            return .done
        } catch {
            throw .system(error)
        }
    }

    /// The header and the slot that counts, and all bytes that were read for them.
    private func readStart(
        _ key: DiskKey, of file: borrowing FoundFile
    ) throws(StorageFailure) -> BoundedFolder.Reading<(header: RecordHeader, bytes: [UInt8], slot: RecordSlot)> {
        guard var bytes = try file.bytes(min(file.size, Self.firstRead), at: 0) else { return .damaged }
        let header: RecordHeader
        switch RecordHeader.read(bytes, key: key, fileSize: file.size) {
        case .header(let read): header = read
        case .newer: return .useless
        case .damaged: return .damaged
        }
        if header.bodyOffset > bytes.count {
            guard header.bodyOffset <= largestStart else { return .useless }
            guard let rest = try file.bytes(header.bodyOffset - bytes.count, at: bytes.count) else { return .damaged }
            bytes += rest
        }
        guard let slot = RecordSlot.read(bytes, in: header) else { return .damaged }
        return .good((header, bytes, slot))
    }

    // Others may have larger limits; what is read is bounded by ours.
    private var largestStart: Int { 4 * (options.maximumMetadata + 1024) }
    private var largestRecord: Int { folder.options.largestFile + largestStart }
}
