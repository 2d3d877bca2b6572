import CommandLineKit
import GannetBasics

/// What has been read of an input that can be read only once, in a file without a name: it is gone when nobody has it open.
final class InputCopy: Sendable {
    private let descriptor: Int32
    private let folder: String

    /// - Parameter folder: Has room for as much as the input has.
    init(in folder: String) throws(CommandFailure) {
        self.folder = folder
        let path = "\(folder)/input-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        unlink(path)
    }

    deinit { close(descriptor) }

    func append(_ bytes: UnsafeRawBufferPointer) throws(CommandFailure) {
        if let code = Descriptor.writeAll(Array(bytes)[...], to: descriptor) { throw failure(code) }
    }

    /// A descriptor at its beginning; those that are open at a time share where they read.
    func reopened() throws(CommandFailure) -> Int32 {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure(errno) }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw failure(errno) }
        return copy
    }

    private func failure(_ code: Int32) -> CommandFailure {
        CommandFailure(.cannotWrite, "A copy of the input cannot be kept in \(Sentence.quoted(folder)): \(Descriptor.message(code)).")
    }
}
