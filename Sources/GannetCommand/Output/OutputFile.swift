import GannetBase

/// A file that a command was asked to write: it is there as a whole, or as it was before.
enum OutputFile {
    static func write(_ bytes: [UInt8], to path: String) throws {
        var status = stat()
        // A device or a pipe is written to, and not put aside for a file.
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG, status.st_mode & S_IFMT != S_IFDIR {
            return try fill(path, bytes, flags: O_WRONLY, shown: path)
        }
        let temporary = "\(path).gannet-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        do {
            try fill(temporary, bytes, flags: O_WRONLY | O_CREAT | O_EXCL, shown: path)
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw failure(path, code)
        }
    }

    private static func fill(_ path: String, _ bytes: [UInt8], flags: Int32, shown: String) throws {
        let descriptor = open(path, flags | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(shown, errno) }
        let problem = Descriptor.writeAll(bytes[...], to: descriptor)
        let closed = close(descriptor) == 0 ? nil : errno
        if let code = problem ?? closed { throw failure(shown, code) }
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure(.cannotWrite, "The file \(Sentence.quoted(path)) cannot be written: \(Descriptor.message(code)).")
    }
}
