internal import HTTPEngine

/// Metadata in a record's file. Where there are two slots, the one that does not count is overwritten and counts from then on: whoever reads
/// meanwhile, and whoever comes after a power cut, finds one of the two whole.
///
/// | bytes | |
/// | --- | --- |
/// | 8 | sequence: of the slots that are whole, the higher one counts |
/// | 4 | how many bytes of metadata there are |
/// | 32 | SHA-256 over the header, the slot's number, its first 12 bytes and the metadata |
/// | n | the metadata |
struct RecordSlot: Equatable {
    let number: Int
    let sequence: UInt64
    let metadata: [UInt8]

    static let headerSize = 44

    /// The slot as it is written, without what fills it up.
    func encoded(in header: RecordHeader) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: sequence)
        bytes.append(littleEndian: UInt32(metadata.count))
        return bytes + Self.digest(header, number, bytes, metadata).bytes + metadata
    }

    /// The slot that counts, of a file's first bytes; nil when none is whole.
    static func read(_ bytes: [UInt8], in header: RecordHeader) -> RecordSlot? {
        (0..<header.slots).compactMap { read($0, bytes, in: header) }.max { $0.sequence < $1.sequence }
    }

    /// The slot to write the metadata to instead of this one; nil where it has to be a new file.
    func successor(_ metadata: [UInt8], in header: RecordHeader) -> RecordSlot? {
        guard header.slots == 2, metadata.count <= header.slotCapacity, sequence < .max else { return nil }
        return RecordSlot(number: 1 - number, sequence: sequence + 1, metadata: metadata)
    }

    private static func read(_ number: Int, _ bytes: [UInt8], in header: RecordHeader) -> RecordSlot? {
        let start = header.offset(ofSlot: number)
        guard let sequence = bytes.littleEndian(at: start, as: UInt64.self), let count = bytes.littleEndian(at: start + 8, as: UInt32.self),
            count <= header.slotCapacity, start + headerSize + Int(count) <= bytes.count
        else { return nil }
        let metadata = Array(bytes[(start + headerSize)..<(start + headerSize + Int(count))])
        guard digest(header, number, bytes[start..<(start + 12)], metadata).bytes.elementsEqual(bytes[(start + 12)..<(start + headerSize)])
        else { return nil }
        return RecordSlot(number: number, sequence: sequence, metadata: metadata)
    }

    private static func digest(
        _ header: RecordHeader, _ number: Int, _ start: some Collection<UInt8>, _ metadata: [UInt8]
    ) -> SHA256Digest {
        SHA256Digest(of: header.encoded + [UInt8(number)] + start + metadata)
    }
}
