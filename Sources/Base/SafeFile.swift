/// The ways to replace a file: whenever the process or the machine stops, the file is there as it was, or with all of its new bytes.
package enum SafeFile {
    /// - Parameter temporary: Where the new file is written first, beside the old one. There may be none yet.
    /// - Returns: The facts of the new file. Nil means that `errno` says why there is none.
    package static func replace(_ path: String, with bytes: [UInt8], by temporary: String, permissions: mode_t) -> stat? {
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { return nil }
        return place(temporary, descriptor, isWhole: Descriptor.write(bytes, to: descriptor, at: 0), at: path)
    }

    /// Gives a whole file another's place. False means that `errno` says why not; then the file is removed.
    package static func publish(_ file: String, as path: String) -> Bool {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        return place(file, descriptor, isWhole: descriptor >= 0, at: path) != nil
    }

    /// - Parameter descriptor: Of the file. It is closed.
    private static func place(_ file: String, _ descriptor: Int32, isWhole: Bool, at path: String) -> stat? {
        var found = stat()
        let isPlaced = isWhole && fsync(descriptor) == 0 && fstat(descriptor, &found) == 0 && rename(file, path) == 0
        let code = errno
        if descriptor >= 0 { close(descriptor) }
        guard isPlaced else {
            unlink(file)
            errno = code
            return nil
        }
        // So that the name outlives a power cut. Some file systems cannot flush a folder, and the file has its place all the same.
        let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        return found
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
