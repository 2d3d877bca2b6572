internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A downloaded body in a temporary file, on its way to somewhere that is no file.
enum TemporaryBody {
    /// Its bytes; the file is gone then, whatever comes of it.
    static func take(_ path: String) throws(OutputFailure) -> [UInt8] {
        defer { remove(path) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path) }
        return try bytes(of: descriptor, Int(status.st_size), path)
    }

    /// The first bytes of an open file; throws where there are fewer.
    static func bytes(of descriptor: Int32, _ size: Int, _ path: String) throws(OutputFailure) -> [UInt8] {
        var problem: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let number = read(descriptor, buffer.baseAddress.map { $0 + count }, size - count)
                if number < 0, errno == EINTR { continue }
                if number < 0 { problem = errno }
                if number <= 0 { return }
                count += number
            }
        }
        guard problem == 0, bytes.count == size else { throw failure(path, problem == 0 ? EIO : problem) }
        return bytes
    }

    static func remove(_ path: String) { unlink(path) }

    /// Does away with a body that nobody wants.
    static func discard(_ body: DownloadedBody) {
        if case .file(let path, _) = body { remove(path) }
    }

    private static func failure(_ path: String, _ code: Int32 = errno) -> OutputFailure {
        OutputFailure("The temporary file \(path.escapedForDisplay) cannot be read: \(String(cString: strerror(code))).")
    }
}
