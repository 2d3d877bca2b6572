internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension BodyFolder {
    /// The bytes of a file of the folder, if they are those that were fetched. What stands in Redis is not trusted to name a file within it.
    func body(_ file: String?, size: Int, digest: [UInt8]) -> [UInt8]? {
        guard let file, !file.isEmpty, !file.utf8.contains(0),
            file.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({ !["", ".", ".."].contains($0) })
        else { return nil }
        let descriptor = open("\(path)/\(file)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == size,
            let bytes = try? TemporaryBody.bytes(of: descriptor, size, file), SHA256Digest(of: bytes).bytes == digest
        else { return nil }
        return bytes
    }
}
