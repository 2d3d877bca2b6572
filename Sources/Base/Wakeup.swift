/// A pipe to end another thread's wait for descriptors with.
package final class Wakeup: Sendable {
    /// Readable after ``signal()``.
    package let readDescriptor: Int32
    private let writeDescriptor: Int32

    /// Nil, and `errno` says why, when the process has no file descriptor left.
    package init?() {
        guard let ends = Descriptor.pipe() else { return nil }
        (readDescriptor, writeDescriptor) = ends
        for end in [ends.read, ends.write] { Descriptor.setFlags(of: end) }
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
