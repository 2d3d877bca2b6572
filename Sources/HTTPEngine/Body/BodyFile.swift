#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The temporary file a body is written to. Unless `keep()` succeeds, the file is gone when this object is.
final class BodyFile {
    let path: String
    private var descriptor: Int32
    private var isKept = false

    /// Creates a new file in the folder, readable by its owner only; its name begins with `.gannet-` and is used by nobody else.
    init(in folder: String) throws(StorageFailure) {
        var generator = SystemRandomNumberGenerator()
        let separator = folder.hasSuffix("/") ? "" : "/"
        let name = String(generator.next() as UInt64, radix: 36) + String(generator.next() as UInt64, radix: 36)
        path = "\(folder)\(separator).gannet-\(name)"
        repeat {
            descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else {
            isKept = true
            throw StorageFailure(action: "create a file in", path: folder, errno: errno)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !isKept { unlink(path) }
    }

    /// Appends all of the bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(StorageFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                throw StorageFailure(action: "write", path: path, errno: count == 0 ? EIO : errno)
            }
        }
    }

    /// Closes the file and leaves it to the caller, by its path.
    func keep() throws(StorageFailure) -> String {
        let result = close(descriptor)
        let code = errno
        descriptor = -1
        // A network file system may report only now that there was no space. After EINTR the descriptor is closed all the same.
        guard result == 0 || code == EINTR else { throw StorageFailure(action: "write", path: path, errno: code) }
        isKept = true
        return path
    }
}

/// The system's function, which inside the class its method's name would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
