import GannetBase

/// A file that a command was asked to write: it is there as a whole, or as it was before.
enum OutputFile {
    static func write(_ bytes: [UInt8], to path: String) throws {
        var status = stat()
        // A device or a pipe is written to, and not put aside for a file.
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG, status.st_mode & S_IFMT != S_IFDIR {
            if let code = fill(path, bytes) { throw failure(path, code) }
            return
        }
        let temporary = "\(path).gannet-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        guard SafeFile.replace(path, with: bytes, by: temporary, permissions: 0o666) != nil else { throw failure(path, errno) }
    }

    private static func fill(_ path: String, _ bytes: [UInt8]) -> Int32? {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        let problem = Descriptor.writeAll(bytes[...], to: descriptor)
        return close(descriptor) == 0 ? problem : problem ?? errno
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure(.cannotWrite, "The file \(Sentence.quoted(path)) cannot be written: \(Descriptor.message(code)).")
    }
}
