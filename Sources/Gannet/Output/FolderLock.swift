internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Who may write to a folder: one run alone, or any number of workers. The lock is the kernel's: it goes with the process, however that ends.
package struct FolderLock: ~Copyable {
    package enum Use: Sendable {
        /// A run's: what is half-written in the folder is nobody's.
        case alone
        /// A worker's, beside others.
        case shared
    }

    private let descriptor: Int32
    private let folder: String

    private static let name = BodyFolder.temporaryPrefix + "lock"

    /// `nil` when another process uses the folder in a way that excludes this one.
    package init?(_ folder: BodyFolder, _ use: Use = .alone) throws(OutputFailure) {
        let path = "\(folder.path)/\(Self.name)"
        self.folder = folder.path
        let opened = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard opened >= 0 else {
            throw OutputFailure("The file \(path.escapedForDisplay) cannot be written: \(String(cString: strerror(errno))).")
        }
        if flock(opened, (use == .alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 {
            descriptor = opened
            return
        }
        let code = errno
        close(opened)
        guard code == EWOULDBLOCK else {
            throw OutputFailure("The file \(path.escapedForDisplay) cannot be locked: \(String(cString: strerror(code))).")
        }
        return nil
    }

    /// Removes what earlier runs left half-written in the folder. For one who is alone there.
    ///
    /// Returns how many files it removed. One that cannot be removed stays; it is nobody's result.
    package borrowing func sweep() -> Int {
        guard let stream = opendir(folder) else { return 0 }
        defer { closedir(stream) }
        var removed = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) { String(cString: $0) }
            }
            guard name.hasPrefix(BodyFolder.temporaryPrefix), name != Self.name else { continue }
            let path = "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, unlink(path) == 0 else { continue }
            removed += 1
        }
        return removed
    }

    /// The folder's own name, drawn when it was first used alone: folders of the same path on two machines have two.
    package borrowing func identity() throws(OutputFailure) -> String {
        let path = "\(folder)/\(Self.name)"
        var bytes = [UInt8](repeating: 0, count: Self.identityLength)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        if count == bytes.count, bytes.allSatisfy({ Self.digits.contains($0) }) { return String(decoding: bytes, as: UTF8.self) }
        bytes = (0..<Self.identityLength).map { _ in Self.digits.randomElement()! }
        guard count >= 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0 else {
            throw OutputFailure("The file \(path.escapedForDisplay) cannot be written: \(String(cString: strerror(errno))).")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let identityLength = 24
    private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    deinit { close(descriptor) }
}
