internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension OpenFolder {
    /// Whether the folder is still somewhere, and not removed.
    var isThere: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    /// The names in the folder, one after the other: there may be millions.
    func forEachName(_ body: (String) -> Void) throws(StorageFailure) {
        // Another description of the folder, since reading moves along in it.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0, let stream = fdopendir(own) else {
            let code = errno
            if own >= 0 { close(own) }
            throw StorageFailure(action: "list", path: path, errno: code)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) { String(cString: $0) }
            }
            if name != ".", name != ".." { body(name) }
        }
        guard errno == 0 else { throw StorageFailure(action: "list", path: path, errno: errno) }
    }

    /// Removes a file; false when there is none of the name.
    @discardableResult
    func removeFile(_ name: String) throws(StorageFailure) -> Bool {
        if unlinkat(descriptor, name, 0) == 0 { return true }
        if errno == ENOENT { return false }
        throw StorageFailure(action: "remove", path: "\(path)/\(name)", errno: errno)
    }

    /// Makes a folder and those above it, for their owner alone, where they are missing.
    static func make(_ path: String) throws(StorageFailure) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let code = errno
        guard code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw StorageFailure(action: "make the folder", path: path, errno: code)
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw StorageFailure(action: "make the folder", path: path, errno: errno)
        }
    }
}
