internal import Glibc

/// Standard input and output, which are pipes.
enum Pipes {
    /// So many bytes; nil when the input ends before.
    static func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { fill($0) } ? bytes : nil
    }

    /// The same for many bytes, for the caller to deallocate. The system fills no page of it before the bytes come.
    static func readBuffer(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        if fill(buffer) { return buffer }
        buffer.deallocate()
        return nil
    }

    private static func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var done = 0
        while done < buffer.count {
            let count = Glibc.read(STDIN_FILENO, buffer.baseAddress! + done, buffer.count - done)
            if count > 0 { done += count } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }

    static func write(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { write($0, to: STDOUT_FILENO) } }

    static func complain(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { write($0, to: STDERR_FILENO) } }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
            if count > 0 { done += count } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }
}
