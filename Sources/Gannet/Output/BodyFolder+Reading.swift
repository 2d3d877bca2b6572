internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension BodyFolder {
    /// The bytes of a file of the folder, if they are those that were fetched. What stands in Redis is not trusted to name a file within it.
    func body(_ file: String?, size: Int, digest: [UInt8]) -> [UInt8]? {
        guard let file, Self.isWithin(file) else { return nil }
        let descriptor = open("\(path)/\(file)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == size,
            let bytes = try? TemporaryBody.bytes(of: descriptor, size, file), SHA256Digest(of: bytes).bytes == digest
        else { return nil }
        return bytes
    }

    /// Appends the bytes of a file of the folder to another file, if they are those that were fetched; the other is of no use where they are not.
    func copy(_ file: String?, size: Int, digest: [UInt8], to target: BodyFile) throws(OutputFailure) -> Bool {
        guard let file, Self.isWithin(file) else { return false }
        return try OutputFailure.storing { () throws(StorageFailure) in
            try FileCheck(in: path).isSound(file, size: size, digest: digest) { (bytes) throws(StorageFailure) in try target.write(bytes) }
        }
    }

    /// Whether a path leads to somewhere in the folder, links aside.
    private static func isWithin(_ file: String) -> Bool {
        !file.isEmpty && !file.utf8.contains(0)
            && file.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !["", ".", ".."].contains($0) }
    }
}
