internal import GannetBase
internal import GannetHTTP

/// A tar file that is being written, in the form that all readers know (ustar). Each part has a head of 512 bytes, and its bytes in whole blocks of as many.
/// Equal parts give equal files: owner, time and permissions are the same for all.
struct TarFile: Sendable {
    let file: OpenedFile
    /// The bytes of all parts so far, with their heads.
    private(set) var size = 0
    private var pending: [UInt8] = []

    private static let block = 512
    /// As many bytes are written at once.
    private static let piece = 256 << 10
    /// A size has eleven octal digits.
    private static let tooLarge = 1 << 33

    init(_ file: OpenedFile) { self.file = file }

    mutating func add(_ name: String, _ content: ArchiveContent) throws {
        guard content.count < Self.tooLarge else { throw StorageFailure.ofArchive("written", file.path, ERANGE) }
        try append(Self.head(name, content.count))
        try content.read { try append($0) }
        try append([UInt8](repeating: 0, count: -content.count & (Self.block - 1)))
    }

    /// Writes the end of the file, two empty blocks. Nothing is added afterwards.
    mutating func end() throws {
        try append([UInt8](repeating: 0, count: 2 * Self.block))
        try write()
    }

    private mutating func append(_ bytes: some Collection<UInt8>) throws {
        pending += bytes
        size += bytes.count
        if pending.count >= Self.piece { try write() }
    }

    private mutating func write() throws {
        try file.write(pending, at: size - pending.count)
        pending.removeAll(keepingCapacity: true)
    }

    /// - Parameter name: Up to 100 bytes of ASCII.
    private static func head(_ name: String, _ count: Int) -> [UInt8] {
        var head = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at place: Int) { head.replaceSubrange(place..<place + text.utf8.count, with: text.utf8) }
        func octal(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: digits - text.utf8.count) + text
        }
        put(name, at: 0)
        let nobody = "000000 \0"
        put("000644 \0\(nobody)\(nobody)\(octal(count, 11)) \(octal(0, 11)) ", at: 100)
        put("0", at: 156)
        put("ustar\0" + "00", at: 257)
        put(nobody + nobody, at: 329)
        put(octal(sum(head), 6) + "\0 ", at: 148)
        return head
    }

    /// Of a head's bytes, with blanks in the place of the sum.
    private static func sum(_ head: [UInt8]) -> Int { head.indices.reduce(0) { $0 + (148..<156 ~= $1 ? 0x20 : Int(head[$1])) } }

    /// The names of the parts of a complete file.
    static func names(in path: String) throws -> [String] {
        let file = try OpenedFile(path, O_RDONLY)
        let size = try file.size
        var names: [String] = []
        var place = 0
        while true {
            var head = [UInt8](repeating: 0, count: block)
            guard let found = head.withUnsafeMutableBytes({ Descriptor.read(into: $0, from: file.descriptor, at: place) }) else {
                throw StorageFailure.ofArchive("read", path)
            }
            if found == block, head.allSatisfy({ $0 == 0 }) { return names }
            func number(_ range: Range<Int>) -> Int? {
                Int(String(decoding: head[range].prefix { 0x30...0x37 ~= $0 }, as: UTF8.self), radix: 8)
            }
            guard found == block, number(148..<154) == sum(head), let count = number(124..<135), count <= size - place - block else {
                throw StorageFailure.foreign(path, "is not a whole tar file: it is cut off or damaged behind byte \(place).")
            }
            // Other programs also write notes that are no files.
            if head[156] == UInt8(ascii: "0") { names.append(String(decoding: head[..<100].prefix { $0 != 0 }, as: UTF8.self)) }
            place += block + (count + block - 1) / block * block
        }
    }
}
