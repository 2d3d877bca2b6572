internal import ClusterState
internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder that fetched bodies end in: each under its URL's name, and either whole or not at all.
package struct BodyFolder: Sendable {
    package let path: String

    /// The path as people may see it, without control characters.
    package var displayPath: String { path.escapedForDisplay }

    /// What the names of files begin with that are no results: bodies while they are written, and the lock; and the folder of a run's records.
    static let temporaryPrefix = ".gannet-"

    /// As the user's umask wants it; temporary files are made for their owner alone.
    private let fileMode: mode_t

    private let style: NameStyle

    /// The folder at `path`, made if it is missing.
    /// - Parameter style: What bodies' files are called.
    package init(_ path: String, names style: NameStyle = .hash) throws(OutputFailure) {
        self.style = style
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        try Self.makeFolder(self.path, withParents: true)
        fileMode = try Self.probe(self.path)
    }

    /// Moves a downloaded body to its place; returns its path within the folder.
    func place(_ file: String, of url: String, id: URLID) throws(OutputFailure) -> String {
        try place(file, as: BodyName(of: url, id: id, style: style).relativePath)
    }

    func place(_ file: String, as name: String) throws(OutputFailure) -> String {
        let target = "\(path)/\(name)"
        do throws(OutputFailure) {
            guard chmod(file, fileMode) == 0 else { throw Self.failure("The file \(file.escapedForDisplay) cannot be changed") }
            try makeFolders(of: name)
            guard rename(file, target) == 0 else { throw Self.failure("The file \(target.escapedForDisplay) cannot be written") }
            return name
        } catch {
            unlink(file)
            throw error
        }
    }

    /// The path within the folder of a URL's body, when it is there in this size.
    func file(of url: String, id: URLID, size: Int) -> String? {
        let name = BodyName(of: url, id: id, style: style).relativePath
        var status = stat()
        guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == size else { return nil }
        return name
    }

    /// Makes the folders that a name leads through; the folder itself is not made again, should it be gone.
    private func makeFolders(of name: String) throws(OutputFailure) {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/\(part)"
            try Self.makeOwnFolder(folder)
        }
    }

    /// A folder within the folder. It is none that a link leads to: that may be anywhere.
    private static func makeOwnFolder(_ path: String) throws(OutputFailure) {
        var status = stat()
        // Most often it is there. Of two that make it at once one finds it there.
        if lstat(path, &status) != 0 {
            guard errno == ENOENT, mkdir(path, 0o755) == 0 || errno == EEXIST, lstat(path, &status) == 0 else {
                throw failure("The folder \(path.escapedForDisplay) cannot be made")
            }
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return
        case S_IFLNK:
            throw OutputFailure(
                "\(path.escapedForDisplay) is a symbolic link, which gannet follows nowhere within a folder of bodies. Remove it.")
        default: throw OutputFailure("\(path.escapedForDisplay) is not a folder.")
        }
    }

    /// Gives a file that was written in the folder its name there, in the stead of what is there, when all of it is on the disk.
    func publish(_ file: String, as target: String) throws(OutputFailure) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        let isWritten = descriptor >= 0 && fchmod(descriptor, fileMode) == 0 && fsync(descriptor) == 0
        let code = errno
        if descriptor >= 0 { close(descriptor) }
        guard isWritten, rename(file, target) == 0 else {
            let failure = Self.failure("The file \(target.escapedForDisplay) cannot be written", isWritten ? errno : code)
            unlink(file)
            throw failure
        }
    }

    /// The folder of this name in the folder, which is made if it is missing.
    func ownFolder(_ name: String) throws(OutputFailure) -> String {
        let own = "\(path)/\(name)"
        try Self.makeOwnFolder(own)
        return own
    }

    /// Makes a file and removes it: the one sure way to know that it can be done, and with which permissions.
    private static func probe(_ path: String) throws(OutputFailure) -> mode_t {
        let file = "\(path)/\(temporaryPrefix)\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("The folder \(path.escapedForDisplay) cannot be written to") }
        defer {
            close(descriptor)
            unlink(file)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("The folder \(path.escapedForDisplay) cannot be written to") }
        return status.st_mode & 0o777
    }

    private static func makeFolder(_ path: String, withParents: Bool) throws(OutputFailure) {
        if mkdir(path, 0o755) == 0 { return }
        let code = errno
        if code == EEXIST {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw OutputFailure("\(path.escapedForDisplay) is not a folder.")
            }
            return
        }
        guard code == ENOENT, withParents, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw failure("The folder \(path.escapedForDisplay) cannot be made", code)
        }
        try makeFolder(String(path[..<slash]), withParents: true)
        try makeFolder(path, withParents: false)
    }

    private static func failure(_ what: String, _ code: Int32 = errno) -> OutputFailure {
        OutputFailure("\(what): \(String(cString: strerror(code))).")
    }
}
