#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A pipe to end another thread's `poll` with.
final class Wakeup: Sendable {
    /// Readable after ``signal()``.
    let readDescriptor: Int32
    private let writeDescriptor: Int32

    /// Throws when the process has no file descriptor left.
    init() throws(RedisError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw RedisError(.unreachable, "no pipe: \(systemMessage(errno)); raise `ulimit -n`") }
        readDescriptor = ends[0]
        writeDescriptor = ends[1]
        ends.forEach(setDescriptorFlags)
    }

    deinit {
        _ = close(readDescriptor)
        _ = close(writeDescriptor)
    }

    func signal() {
        // A full pipe has woken its reader already.
        var byte: UInt8 = 1
        _ = write(writeDescriptor, &byte, 1)
    }

    func reset() {
        var bytes = (UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &bytes) { buffer in
            while read(readDescriptor, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }
}
