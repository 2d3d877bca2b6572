internal import GannetBase
package import GannetHTTP
package import GannetQueue

/// A folder of bodies. Each body is a file named after its URL, and it appears only when it is complete.
package struct BodyFolder: Sendable {
    package let path: String

    /// The path for messages, without control characters.
    package var displayPath: String { path.escapedForDisplay }

    /// The beginning of the names that are not results: unfinished bodies, the lock, and the folder of records.
    static let temporaryPrefix = ".gannet-"

    /// How new files are named.
    package let names: NameStyle

    /// Opens the folder for writing, and makes it if it is missing.
    package init(_ path: String, names: NameStyle = .hash) throws(StorageFailure) {
        self.names = names
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        try Self.makeFolder(self.path, withParents: true)
        try Self.probe(self.path)
    }

    /// Opens a folder that other processes write to, for reading.
    package init(reading path: String) throws(StorageFailure) {
        names = .hash
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK | X_OK) == 0 else {
            throw StorageFailure.refused("folder", path, "read")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw StorageFailure("\(path.escapedForDisplay) is not a folder.") }
    }

    /// Whether the folder at another path is this one.
    package func isFolder(at other: String) -> Bool {
        var (one, two) = (stat(), stat())
        return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino
    }

    /// Writes bytes into a new file, which has no place yet, and returns its path.
    func newFile(of bytes: [UInt8]) throws -> String {
        let file = try BodyFile(in: path, .ordinary)
        try file.write(bytes)
        return try file.keep()
    }

    /// Moves a downloaded body to its place and returns its path within the folder. The file keeps its permissions. It is removed on an error.
    func place(_ file: String, of url: String, id: URLID) throws -> String {
        try place(file, as: name(of: url, id: id))
    }

    func place(_ file: String, as name: String) throws -> String {
        let target = "\(path)/\(name)"
        do {
            try makeFolders(of: name)
            guard rename(file, target) == 0 else {
                let failure = StorageFailure.refused("file", target, "written")
                throw [EISDIR, ENOTDIR, ELOOP].contains(failure.errno) ? StorageFailure(.placeTaken(failure.sentence)) : failure
            }
            return name
        } catch {
            unlink(file)
            throw error
        }
    }

    /// The path within the folder that belongs to a URL's body, whether or not the file exists.
    /// - Parameter ending: Of a picture that is made of the body; nil for the body's own.
    func name(of url: String, id: URLID, ending: String? = nil) -> String {
        BodyName(of: url, id: id, style: names, ending: ending).relativePath
    }

    /// The path within the folder of a URL's body, if a file of this size is there.
    func file(of url: String, id: URLID, size: Int) -> String? {
        let name = name(of: url, id: id)
        return hasFile(name, size: size) ? name : nil
    }

    /// Whether a regular file of this size is at a path within the folder.
    func hasFile(_ name: String, size: Int) -> Bool {
        guard let status = fileStatus("\(path)/\(name)") else { return false }
        return status.isFile && status.st_size == size
    }

    /// Removes a body's file, if it is there.
    func remove(_ name: String) { unlink("\(path)/\(name)") }

    /// When a file was written; nil if it is not there.
    func time(of name: String) -> Date? {
        fileStatus("\(path)/\(name)").map { status in
            Date(timeIntervalSince1970: Double(status.modification.tv_sec) + Double(status.modification.tv_nsec) / 1e9)
        }
    }

    /// Gives a file the time of its fetch. A file keeps its own time where that fails.
    func set(_ time: Date, of name: String) {
        let seconds = timespec(tv_sec: Int(time.timeIntervalSince1970), tv_nsec: 0)
        utimensat(AT_FDCWD, "\(path)/\(name)", [seconds, seconds], AT_SYMLINK_NOFOLLOW)
    }

    func removeFolderIfEmpty(_ name: String) { rmdir("\(path)/\(name)") }

    /// The names in a folder within this one; none if it is not there, or is a link to a folder elsewhere.
    func files(in name: String) -> [String] {
        let folder = "\(path)/\(name)"
        return fileStatus(folder)?.isFolder == true ? Self.names(in: folder) ?? [] : []
    }

    /// The names in the folder at a path; nil means that `errno` says why there are none.
    static func names(in path: String) -> [String]? {
        guard let stream = opendir(path) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    /// Makes the folders on the way to a file. The body folder itself is not made again: if it is gone, that is an error.
    private func makeFolders(of name: String) throws {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/\(part)"
            try Self.makeOwnFolder(folder)
        }
    }

    /// Makes a folder within the body folder. Symbolic links are refused: their target may lie outside.
    private static func makeOwnFolder(_ path: String) throws {
        var status = stat()
        // Usually it exists. Two processes may make it at the same time.
        if lstat(path, &status) != 0 {
            if errno == ENOENT, mkdir(path, 0o755) == 0 { return }
            guard errno == EEXIST, lstat(path, &status) == 0 else { throw StorageFailure.refused("folder", path, "made") }
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return
        case S_IFLNK:
            let sentence = "\(path.escapedForDisplay) is a symbolic link, and links within a folder of bodies are not followed. Remove it."
            throw StorageFailure(.placeTaken(sentence))
        default: throw StorageFailure(.placeTaken("\(path.escapedForDisplay) is not a folder. Remove it."))
        }
    }

    /// Gives a whole file of the folder its name. It replaces a file of that name.
    func publish(_ file: String, as target: String) throws(StorageFailure) {
        guard SafeFile.publish(file, as: target) else { throw StorageFailure.refused("file", target, "written") }
    }

    /// The path of a folder within this one, which is made if it is missing.
    func ownFolder(_ name: String) throws -> String {
        let own = "\(path)/\(name)"
        try Self.makeOwnFolder(own)
        return own
    }

    /// Makes a file and removes it. Nothing else shows for certain that files can be made.
    private static func probe(_ path: String) throws(StorageFailure) {
        do throws(StorageFailure) {
            _ = try BodyFile(in: path, .ordinary)
        } catch {
            throw StorageFailure.refused("folder", path, "written to", error.errno)
        }
    }

    private static func makeFolder(_ path: String, withParents: Bool) throws(StorageFailure) {
        if mkdir(path, 0o755) == 0 { return }
        let code = errno
        if code == EEXIST {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw StorageFailure("\(path.escapedForDisplay) is not a folder.")
            }
            return
        }
        guard code == ENOENT, withParents, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw StorageFailure.refused("folder", path, "made", code)
        }
        try makeFolder(String(path[..<slash]), withParents: true)
        try makeFolder(path, withParents: false)
    }
}

extension BodyFolder: JobOutput {
    /// The longest body that the engine leaves in memory.
    private static let smallBody = 128 << 10

    package var bodyDestination: BodyDestination { .file(in: path, beyond: Self.smallBody) }

    /// `nil`, because only a ``RecordedFolder`` knows which files are complete and current.
    package func found(_ job: Job) -> HeldBody? { nil }

    package func wireRecord(for job: Job) -> WireRecord? { job.keepsWire ? WireRecord(fileIn: path, beyond: Self.smallBody) : nil }

    package func keep(_ wire: WireRecord, body: SHA256Digest?, of job: Job) throws -> ExchangesPlace? {
        guard let bytes = try wire.packed(body: body, atMost: ExchangesPlace.most) else { return nil }
        wire.clear()
        try writeExchanges(bytes, of: job.id)
        return ExchangesPlace(bytes)
    }

    package func held(_ outcome: URLOutcome, for job: Job) -> HeldBody? {
        if job.keepsWire {
            guard let place = outcome.content.exchanges, exchanges(of: job.id, at: place) != nil else { return nil }
        }
        return file(of: outcome.content.url, id: job.id, size: outcome.content.size).map { HeldBody(file: $0) }
    }

    /// A worker ends where a place is taken: another one may have another folder.
    package func place(_ download: Download, digest: SHA256Digest, of job: Job) throws -> Placement { .held(try stored(download, of: job)) }

    func stored(_ download: Download, of job: Job) throws -> HeldBody {
        let file =
            switch download.body {
            case .file(let path, _): path
            case .bytes(let bytes): try newFile(of: bytes)
            }
        return HeldBody(file: try place(file, of: job.url, id: job.id))
    }

    package var notesEnds: Bool { false }

    package func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) {}
}

/// Bodies that workers have put here, for readers.
extension BodyFolder {
    /// Whether an outcome with this place means this folder, as far as the folder can tell. May block.
    ///
    /// A place does not say in which of the workers' folders the body is. The folder that has a file of that name may have it no more as it was.
    package func keeps(_ place: BodyPlace) -> Bool {
        guard case .file(let name) = place, Self.isWithin(name) else { return false }
        return time(of: name) != nil
    }

    /// The bytes of an outcome's body; `nil` where they are not here, or have another size or digest.
    package func body(_ content: OutcomeContent) -> [UInt8]? {
        guard case .file(let file) = content.place, let digest = content.digest else { return nil }
        return body(file, size: content.size, digest: digest)
    }

    /// The bytes of a file, if they have this size and digest.
    func body(_ file: String, size: Int, digest: [UInt8]) -> [UInt8]? {
        guard Self.isWithin(file) else { return nil }
        var bytes: [UInt8] = []
        return isSound(file, size: size, digest: digest) { bytes += $0 } ? bytes : nil
    }

    /// Copies the body into a new file in `target`; `nil` as above. Blocks.
    func copy(_ content: OutcomeContent, to target: BodyFolder) throws -> String? {
        guard case .file(let name) = content.place, let digest = content.digest, Self.isWithin(name) else { return nil }
        let file = try BodyFile(in: target.path, .ordinary)
        return try isSound(name, size: content.size, digest: digest, pass: file.write) ? file.keep() : nil
    }

    package static func isWithin(_ file: String) -> Bool { isWithin(file.utf8) }

    static func isWithin(_ file: some Collection<UInt8>) -> Bool {
        !file.isEmpty && !file.contains(0)
            && file.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
            }
    }
}

extension Placement {
    /// Fails a job alone whose body's place is taken.
    init(of job: Job, _ place: () throws -> HeldBody) throws {
        do {
            self = .held(try place())
        } catch let failure as StorageFailure where failure.isPlaceTaken {
            let detail = failure.sentence
            self = .refused(FetchError(kind: .storage, url: job.url, detail: detail.hasSuffix(".") ? String(detail.dropLast()) : detail))
        }
    }
}

extension StorageFailure {
    init(_ sentence: String) { self.init(.other(sentence)) }

    /// `The folder out cannot be made: Permission denied.`
    static func refused(_ noun: String, _ path: String, _ participle: String, _ code: Int32 = lastSystemError) -> StorageFailure {
        let sentence = "The \(noun) \(path.escapedForDisplay) cannot be \(participle): \(String(cString: strerror(code)))."
        return StorageFailure(.other(sentence, errno: code))
    }
}

/// The status of the file at a path, and not of a link's target; nil where there is no file.
func fileStatus(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
}

extension stat {
    /// Whether it is a regular file.
    var isFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}

/// The system's `errno`, which within ``StorageFailure`` would be its own member.
var lastSystemError: Int32 { errno }
