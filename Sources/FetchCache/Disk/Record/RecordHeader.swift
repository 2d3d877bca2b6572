internal import HTTPEngine

/// The first bytes of a record's file, which never change while it is there.
///
/// | bytes | |
/// | --- | --- |
/// | 8 | magic |
/// | 4 | format version; what follows is version 1's. Numbers are little-endian |
/// | 4 | how many bytes the key has |
/// | 8 | how many bytes the body has |
/// | 4 | how many slots there are: one, or two where metadata can be changed in place |
/// | 4 | how many bytes of metadata a slot holds |
/// | 32 | SHA-256 of the body |
/// | n | the key |
///
/// Slots follow, see ``RecordSlot``, then the body. Nothing of the file is outside of a digest but what fills the slots up: a slot's is over
/// this header as well.
struct RecordHeader: Equatable {
    let key: DiskKey
    let bodySize: Int
    let bodyDigest: SHA256Digest
    let slots: Int
    let slotCapacity: Int

    enum Reading {
        case header(RecordHeader)
        /// Of a version to come.
        case newer
        case damaged
    }

    static let magic = Array("gannet\r\n".utf8)
    static let version: UInt32 = 1
    /// Without the key.
    private static let fixedSize = 64

    /// Rewriting a smaller body costs no more than the place for a second slot.
    static let leastBodyForTwoSlots = 64 << 10

    /// The header for a new record.
    init(key: DiskKey, metadataSize: Int, bodySize: Int, bodyDigest: SHA256Digest) {
        self.key = key
        self.bodySize = bodySize
        self.bodyDigest = bodyDigest
        let isLarge = bodySize >= Self.leastBodyForTwoSlots
        slots = isLarge ? 2 : 1
        // What a server says of the same body later is about as long.
        slotCapacity = isLarge ? (metadataSize + metadataSize / 4 + 1023) / 512 * 512 : metadataSize
    }

    private init(key: DiskKey, bodySize: Int, bodyDigest: SHA256Digest, slots: Int, slotCapacity: Int) {
        self.key = key
        self.bodySize = bodySize
        self.bodyDigest = bodyDigest
        self.slots = slots
        self.slotCapacity = slotCapacity
    }

    /// Where the first slot begins.
    var size: Int { Self.fixedSize + key.bytes.count }
    /// Where the body begins.
    var bodyOffset: Int { offset(ofSlot: slots) }
    var fileSize: Int { bodyOffset + bodySize }

    func offset(ofSlot slot: Int) -> Int { size + slot * (RecordSlot.headerSize + slotCapacity) }

    var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt32(key.bytes.count))
        bytes.append(littleEndian: UInt64(bodySize))
        bytes.append(littleEndian: UInt32(slots))
        bytes.append(littleEndian: UInt32(slotCapacity))
        return bytes + bodyDigest.bytes + key.bytes
    }

    /// Reads what the first bytes of a file of this size say. All lengths it gives fit into the file; that they are right is for a slot's
    /// digest to say.
    static func read(_ bytes: [UInt8], key: DiskKey, fileSize: Int) -> Reading {
        guard bytes.starts(with: magic), let version = bytes.littleEndian(at: 8, as: UInt32.self), version > 0 else { return .damaged }
        guard version == Self.version else { return .newer }
        guard bytes.littleEndian(at: 12, as: UInt32.self) == UInt32(key.bytes.count),
            let body = bytes.littleEndian(at: 16, as: UInt64.self),
            let slots = bytes.littleEndian(at: 24, as: UInt32.self), let capacity = bytes.littleEndian(at: 28, as: UInt32.self),
            body <= UInt64(fileSize), (1...2).contains(slots), bytes.count >= fixedSize + key.bytes.count,
            let digest = SHA256Digest(bytes: bytes[32..<64]), bytes[fixedSize...].starts(with: key.bytes)
        else { return .damaged }
        let header = RecordHeader(key: key, bodySize: Int(body), bodyDigest: digest, slots: Int(slots), slotCapacity: Int(capacity))
        return header.fileSize == fileSize ? .header(header) : .damaged
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
