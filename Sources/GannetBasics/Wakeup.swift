#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A pipe to end another thread's wait for descriptors with.
package final class Wakeup: Sendable {
    /// Readable after ``signal()``.
    package let readDescriptor: Int32
    private let writeDescriptor: Int32

    /// Nil, and `errno` says why, when the process has no file descriptor left.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        readDescriptor = ends[0]
        writeDescriptor = ends[1]
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
        }
    }

    deinit {
        _ = close(readDescriptor)
        _ = close(writeDescriptor)
    }

    package func signal() {
        // A full pipe has woken its reader already.
        var byte: UInt8 = 1
        _ = write(writeDescriptor, &byte, 1)
    }

    package func reset() {
        var bytes = (UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &bytes) { buffer in
            while read(readDescriptor, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }
}
