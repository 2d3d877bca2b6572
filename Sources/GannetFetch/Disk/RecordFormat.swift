package import GannetHTTP

/// The first bytes of a record's file. They never change during the life of the file.
///
/// | bytes | |
/// | --- | --- |
/// | 8 | magic |
/// | 4 | format version; the following fields are those of version 1. Numbers are little-endian |
/// | 4 | number of bytes of the key |
/// | 8 | number of bytes of the body |
/// | 4 | number of copies of the metadata: one, or two where metadata can be changed in place |
/// | 4 | number of bytes of metadata that a copy can hold |
/// | 32 | SHA-256 of the body |
/// | n | the key |
///
/// The copies of the metadata follow, see ``RecordMetadata``, and then the body. A digest covers every byte of the file except the padding
/// of the copies: the digest of a copy covers this header too.
package struct RecordHeader: Equatable {
    package let key: DiskKey
    package let bodySize: Int
    package let bodyDigest: SHA256Digest
    let copies: Int
    let copyCapacity: Int

    static let magic = Array("gannet\r\n".utf8)
    static let version: UInt32 = 1
    /// Without the key.
    private static let fixedSize = 64

    /// A smaller body is rewritten at no more cost than the room for a second copy of the metadata.
    static let leastBodyForTwoCopies = 64 << 10

    /// Where the first copy of the metadata begins.
    var size: Int { Self.fixedSize + key.bytes.count }
    /// Where the body begins.
    package var bodyOffset: Int { offset(ofCopy: copies) }
    package var fileSize: Int { bodyOffset + bodySize }

    package func offset(ofCopy number: Int) -> Int { size + number * (RecordMetadata.headerSize + copyCapacity) }

    package var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt32(key.bytes.count))
        bytes.append(littleEndian: UInt64(bodySize))
        bytes.append(littleEndian: UInt32(copies))
        bytes.append(littleEndian: UInt32(copyCapacity))
        return bytes + bodyDigest.bytes + key.bytes
    }

    /// Reads the first bytes of a file of this size; nil for a file that is damaged, or of another format. All lengths of the header fit into the file. Only the digest of a copy of the metadata
    /// tells whether they are right.
    package static func read(_ bytes: [UInt8], key: DiskKey, fileSize: Int) -> Self? {
        guard bytes.starts(with: magic), bytes.littleEndian(at: 8, as: UInt32.self) == version,
            bytes.littleEndian(at: 12, as: UInt32.self) == UInt32(key.bytes.count),
            let body = bytes.littleEndian(at: 16, as: UInt64.self),
            let copies = bytes.littleEndian(at: 24, as: UInt32.self), let capacity = bytes.littleEndian(at: 28, as: UInt32.self),
            body <= UInt64(fileSize), (1...2).contains(copies), bytes.count >= fixedSize + key.bytes.count,
            let digest = SHA256Digest(bytes: bytes[32..<64]), bytes[fixedSize...].starts(with: key.bytes)
        else { return nil }
        let header = RecordHeader(key: key, bodySize: Int(body), bodyDigest: digest, copies: Int(copies), copyCapacity: Int(capacity))
        return header.fileSize == fileSize ? header : nil
    }
}

extension RecordHeader {
    /// The header of a new record.
    package init(key: DiskKey, metadataSize: Int, bodySize: Int, bodyDigest: SHA256Digest) {
        let isLarge = bodySize >= Self.leastBodyForTwoCopies
        self.init(
            key: key, bodySize: bodySize, bodyDigest: bodyDigest, copies: isLarge ? 2 : 1,
            // Later metadata of the same body is about as long.
            copyCapacity: isLarge ? (metadataSize + metadataSize / 4 + 1023) / 512 * 512 : metadataSize)
    }
}

/// One copy of the metadata in a record's file. Where there are two, an update overwrites the copy that does not count, which then counts.
/// A reader during the update, or after a power cut, finds one of the two whole.
///
/// | bytes | |
/// | --- | --- |
/// | 8 | sequence: of the copies that are whole, the higher one counts |
/// | 4 | number of bytes of metadata |
/// | 32 | SHA-256 of the header, the copy's number, its first 12 bytes and the metadata |
/// | n | the metadata |
package struct RecordMetadata: Equatable {
    package let number: Int
    package let sequence: UInt64
    package let bytes: [UInt8]

    static let headerSize = 44

    package init(number: Int, sequence: UInt64, bytes: [UInt8]) {
        self.number = number
        self.sequence = sequence
        self.bytes = bytes
    }

    /// The copy as it is written, without padding.
    package func encoded(in header: RecordHeader) -> [UInt8] {
        var start: [UInt8] = []
        start.append(littleEndian: sequence)
        start.append(littleEndian: UInt32(bytes.count))
        return start + Self.digest(header, number, start, bytes).bytes + bytes
    }

    /// The copy that counts, in a file's first bytes; nil when none is whole.
    package static func read(_ bytes: [UInt8], in header: RecordHeader) -> Self? {
        (0..<header.copies).compactMap { read($0, bytes, in: header) }.max { $0.sequence < $1.sequence }
    }

    /// The copy to write for new metadata; nil where the file has to be written anew.
    package func successor(_ bytes: [UInt8], in header: RecordHeader) -> Self? {
        guard header.copies == 2, bytes.count <= header.copyCapacity, sequence < .max else { return nil }
        return Self(number: 1 - number, sequence: sequence + 1, bytes: bytes)
    }

    private static func read(_ number: Int, _ bytes: [UInt8], in header: RecordHeader) -> Self? {
        let start = header.offset(ofCopy: number)
        guard let sequence = bytes.littleEndian(at: start, as: UInt64.self), let count = bytes.littleEndian(at: start + 8, as: UInt32.self),
            count <= header.copyCapacity, start + headerSize + Int(count) <= bytes.count
        else { return nil }
        let metadata = Array(bytes[(start + headerSize)..<(start + headerSize + Int(count))])
        guard digest(header, number, bytes[start..<(start + 12)], metadata).bytes.elementsEqual(bytes[(start + 12)..<(start + headerSize)])
        else { return nil }
        return Self(number: number, sequence: sequence, bytes: metadata)
    }

    private static func digest(
        _ header: RecordHeader, _ number: Int, _ start: some Collection<UInt8>, _ metadata: [UInt8]
    ) -> SHA256Digest {
        SHA256Digest(of: header.encoded + [UInt8(number)] + start + metadata)
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    func littleEndian<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number? {
        guard offset >= 0, offset + MemoryLayout<Number>.size <= count else { return nil }
        return withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }
}
