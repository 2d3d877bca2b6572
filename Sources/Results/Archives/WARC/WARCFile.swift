internal import CZlib
internal import GannetBase
internal import GannetHTTP

/// A file that is being written, `….warc.gz.open`, or that a killed run has left.
///
/// Its end, in this order: the file reaches the disk, then its index, then both get their names, and then the names reach the disk. So a file
/// without `.open` is complete and has an index, whenever power fails.
struct WARCFile {
    static let ending = ".warc.gz"

    let folder: String
    /// Without `.open`.
    let name: String
    let file: OpenedFile
    private(set) var size: Int
    private(set) var index = CaptureIndex()

    /// Makes a new file. Its name is durable, so that a flush of the file is enough for its records.
    init(makingIn folder: String, name: String) throws {
        self.folder = folder
        self.name = name
        file = try OpenedFile(folder + "/" + name + ArchiveFolder.open, O_RDWR | O_CREAT | O_EXCL)
        size = 0
        guard file.lock() else { throw StorageFailure.ofArchive("locked", file.path) }
        try ArchiveFolder.sync(folder)
    }

    /// Opens a file that an earlier run has left. Nil when another process is writing it.
    init?(recoveringIn folder: String, name: String) throws {
        self.folder = folder
        self.name = name
        file = try OpenedFile(folder + "/" + name + ArchiveFolder.open, O_RDWR)
        size = try file.size
        guard file.lock() else { return nil }
    }

    // MARK: Records

    mutating func append(_ bytes: [UInt8]) throws {
        try file.write(bytes, at: size)
        size += bytes.count
    }

    /// Forgets everything from there on.
    mutating func cut(to size: Int) throws {
        try file.truncate(to: size)
        self.size = size
    }

    mutating func add(_ capture: Capture, offset: Int, length: Int) { index.add(capture, offset: offset, length: length, file: name) }

    // MARK: The end

    private var indexName: String { name.dropLast(Self.ending.count) + ".cdxj" }

    /// May be called again when it has failed.
    func complete() throws {
        try file.sync()
        let index = try OpenedFile("\(folder)/\(indexName)\(ArchiveFolder.open)", O_WRONLY | O_CREAT | O_TRUNC)
        try index.write(self.index.sorted(), at: 0)
        try index.sync()
        try ArchiveFolder.rename(index.path, to: "\(folder)/\(indexName)")
        try ArchiveFolder.rename(file.path, to: "\(folder)/\(name)")
        try ArchiveFolder.sync(folder)
    }

    /// For a file without captures. Its index may be half there.
    func remove() throws {
        try ArchiveFolder.remove("\(folder)/\(indexName)\(ArchiveFolder.open)")
        try ArchiveFolder.remove("\(folder)/\(indexName)")
        try ArchiveFolder.remove(file.path)
        try ArchiveFolder.sync(folder)
    }
}

/// The values of a record's line in an index.
struct Capture: Sendable {
    var url: String
    var timestamp: String
    var mime: String
    /// Three digits, or `-`.
    var status: String
    /// With its algorithm, as the record has it; nil when there is none.
    var digest: String?
}

/// The lines of one file's CDXJ index, in memory until the file is complete.
struct CaptureIndex {
    private var bytes: [UInt8] = []
    private var starts: [Int] = []

    /// The memory that the lines take.
    var size: Int { bytes.count + starts.count * MemoryLayout<Int>.stride }
    var count: Int { starts.count }

    mutating func add(_ capture: Capture, offset: Int, length: Int, file: String) {
        starts.append(bytes.count)
        bytes += "\(SURT.key(capture.url)) \(capture.timestamp) ".utf8
        // pywb looks for a revisit's original by the digest.
        let values = [
            ("url", capture.url), ("mime", capture.mime), ("status", capture.status), ("digest", capture.digest ?? "-"),
            ("length", "\(length)"), ("offset", "\(offset)"), ("filename", file),
        ]
        for (index, (name, value)) in values.enumerated() {
            bytes += (index == 0 ? "{\"\(name)\": " : ", \"\(name)\": ").utf8
            bytes.append(quoted: value)
        }
        bytes += "}\n".utf8
    }

    /// The lines in the order of their bytes, as `LC_ALL=C sort` has them.
    func sorted() -> [UInt8] {
        bytes.withUnsafeBytes { buffer in
            let ends = starts.dropFirst() + [bytes.count]
            let lines = zip(starts, ends).map { UnsafeRawBufferPointer(rebasing: buffer[$0..<$1]) }
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            for line in lines.sorted(by: Self.precedes) { result += line }
            return result
        }
    }

    /// Each line has its newline, which no byte of a line precedes.
    private static func precedes(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard let left = one.baseAddress, let right = other.baseAddress else { return false }
        let order = memcmp(left, right, min(one.count, other.count))
        return order == 0 ? one.count < other.count : order < 0
    }
}

extension [UInt8] {
    /// A string of JSON, in ASCII.
    fileprivate mutating func append(quoted text: String) {
        append(UInt8(ascii: "\""))
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5c: self += [0x5c, UInt8(unit)]
            case 0x20...0x7e: append(UInt8(unit))
            default:
                let digits = String(unit, radix: 16)
                self += ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).utf8
            }
        }
        append(UInt8(ascii: "\""))
    }
}

/// Packs one record after another, each into a gzip member of its own. Equal input gives equal bytes: no time and no name is in them.
///
/// One caller at a time uses it. The state of a compressor takes 256 KiB and some time to make, so it is used again.
final class GzipPacker: @unchecked Sendable {
    // zlib's state points back to it, so it may not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var output = [UInt8](repeating: 0, count: 64 << 10)

    init(level: Int) throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 31 stands for a window of 32 KiB in gzip's wrapper.
        guard gannet_deflate_init(stream, Int32(level), 31) == Z_OK else {
            throw StorageFailure("There is no memory for a compressor.")
        }
    }

    // Runs after a failed initializer, too. zlib knows a stream that was never set up.
    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Begins a member, and drops the half of an earlier one whose body failed.
    func begin() { deflateReset(stream) }

    func end(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        try add(UnsafeRawBufferPointer(start: nil, count: 0), flush: Z_FINISH, take)
    }

    func add(
        _ bytes: UnsafeRawBufferPointer, flush: Int32 = Z_NO_FLUSH, _ take: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        // Pieces have far fewer bytes than zlib's counters can hold, heads too.
        // zlib only reads from it.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(bytes.count)
        while true {
            let (count, code) = output.withUnsafeMutableBytes { room in
                stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.pointee.avail_out = UInt32(room.count)
                let code = deflate(stream, flush)
                return (room.count - Int(stream.pointee.avail_out), code)
            }
            if count > 0 { try output.withUnsafeBytes { try take(UnsafeRawBufferPointer(rebasing: $0[..<count])) } }
            if code == Z_STREAM_END { return }
            // Only a wrong call brings another code than these two. The buffer error says that there was nothing to do.
            guard code == Z_OK || code == Z_BUF_ERROR else { throw StorageFailure("zlib has failed with \(code).") }
            if flush == Z_NO_FLUSH, stream.pointee.avail_in == 0, count < output.count { return }
        }
    }
}
