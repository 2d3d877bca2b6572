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

    /// The folder could not be made or written to.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The folder at `path`, made if it is missing.
    package init(_ path: String) throws(Failure) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        try Self.makeFolder(self.path, withParents: true)
        guard access(self.path, W_OK | X_OK) == 0 else { throw Self.failure("The folder \(self.path) cannot be written to") }
    }

    /// Moves a downloaded body to its place; returns its path within the folder.
    func place(_ file: String, of url: String, id: URLID) throws(Failure) -> String {
        let name = BodyName(of: url, id: id)
        try Self.makeFolder("\(path)/\(name.folder)", withParents: false)
        let target = "\(path)/\(name.relativePath)"
        guard chmod(file, 0o644) == 0, rename(file, target) == 0 else {
            let failure = Self.failure("The file \(target) cannot be written")
            unlink(file)
            throw failure
        }
        return name.relativePath
    }

    private static func makeFolder(_ path: String, withParents: Bool) throws(Failure) {
        if mkdir(path, 0o755) == 0 { return }
        let code = errno
        if code == EEXIST {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw Failure(description: "\(path) is not a folder.")
            }
            return
        }
        guard code == ENOENT, withParents, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw failure("The folder \(path) cannot be made", code)
        }
        try makeFolder(String(path[..<slash]), withParents: true)
        try makeFolder(path, withParents: false)
    }

    private static func failure(_ what: String, _ code: Int32 = errno) -> Failure {
        Failure(description: "\(what): \(String(cString: strerror(code))).")
    }
}
