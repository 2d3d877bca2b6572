internal import GannetBase

/// A file that is being written, `….warc.gz.open`, or that a killed run has left.
///
/// Its end, in this order: the file reaches the disk, then its index, then both get their names, and then the names reach the disk. So a file
/// without `.open` is complete and has an index, whenever power fails.
struct WARCFile {
    static let ending = ".warc.gz"
    static let open = ".open"

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
        file = try OpenedFile(folder + "/" + name + Self.open, O_RDWR | O_CREAT | O_EXCL)
        size = 0
        guard file.lock() else { throw ArchiveError.refused("locked", file.path) }
        try ArchiveFolder.sync(folder)
    }

    /// Opens a file that an earlier run has left. Nil when another process is writing it.
    init?(recoveringIn folder: String, name: String) throws {
        self.folder = folder
        self.name = name
        file = try OpenedFile(folder + "/" + name + Self.open, O_RDWR)
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

    mutating func add(_ capture: Capture, offset: Int, length: Int) {
        index.add(capture, offset: offset, length: length, file: name)
    }

    // MARK: The end

    private var indexName: String { name.dropLast(Self.ending.count) + ".cdxj" }

    /// May be called again when it has failed.
    func complete() throws {
        try file.sync()
        let index = try OpenedFile("\(folder)/\(indexName)\(Self.open)", O_WRONLY | O_CREAT | O_TRUNC)
        try index.write(self.index.sorted(), at: 0)
        try index.sync()
        try ArchiveFolder.rename(index.path, to: "\(folder)/\(indexName)")
        try ArchiveFolder.rename(file.path, to: "\(folder)/\(name)")
        try ArchiveFolder.sync(folder)
    }

    /// For a file without captures. Its index may be half there.
    func remove() throws {
        try ArchiveFolder.remove("\(folder)/\(indexName)\(Self.open)")
        try ArchiveFolder.remove("\(folder)/\(indexName)")
        try ArchiveFolder.remove(file.path)
        try ArchiveFolder.sync(folder)
    }
}
