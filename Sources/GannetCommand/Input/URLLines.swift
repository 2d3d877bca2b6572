import CommandLineKit
import Dispatch
import Foundation
internal import Threads

/// The lines of a file or of standard input, a batch at a time, however long the input is and however slowly it comes.
///
/// Reading blocks a thread of its own, never one that runs tasks. One reader at a time.
final class URLLines: Sendable {
    private struct State {
        var splitter = LineSplitter()
        var hasEnded = false
    }

    private static let chunkSize = 256 * 1024

    private let name: String
    private let descriptor: Int32
    private let owned: Bool
    /// Closing its write end wakes a reader that waits for a silent pipe or terminal.
    private let wake: (read: Int32, write: Int32)
    private let queue = DispatchQueue(label: "gannet.input")
    private let state = Mutex(State())

    /// Opens the input; a file that cannot be read is no usable input.
    convenience init(_ source: InputOptions.Source) throws(CommandFailure) {
        switch source {
        case .standardInput:
            if let code = StandardDescriptors.inputError {
                throw CommandFailure(.noUsableInput, "Standard input cannot be read: \(Descriptor.message(code)).")
            }
            try self.init(descriptor: STDIN_FILENO, owned: false, name: "standard input")
        case .file(let path):
            let shown = Sentence.quoted(path)
            let opened = open(path, O_RDONLY | O_CLOEXEC)
            guard opened >= 0 else {
                throw CommandFailure(.noUsableInput, "The input file \(shown) cannot be read: \(Descriptor.message(errno)).")
            }
            try self.init(descriptor: opened, owned: true, name: "the input file \(shown)")
        }
    }

    init(descriptor: Int32, owned: Bool, name: String) throws(CommandFailure) {
        if let problem = Self.problem(with: descriptor) {
            if owned { close(descriptor) }
            throw CommandFailure(.noUsableInput, "Cannot read \(name): \(problem).")
        }
        guard let wake = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot open a pipe: \(Descriptor.message(errno)).")
        }
        self.descriptor = descriptor
        self.owned = owned
        self.name = name
        self.wake = wake
    }

    /// Why a descriptor cannot be an input, as far as that can be told before reading: so that nothing is begun in vain.
    private static func problem(with descriptor: Int32) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return Descriptor.message(errno) }
        if status.st_mode & S_IFMT == S_IFDIR { return Descriptor.message(EISDIR) }
        return fcntl(descriptor, F_GETFL) & O_ACCMODE == O_WRONLY ? "it is open for writing only" : nil
    }

    deinit {
        if owned { close(descriptor) }
        close(wake.read)
        close(wake.write)
    }

    /// The lines of the next chunk: possibly none (a chunk of comments), nil at the end of the input or when the task is cancelled.
    func nextBatch() async throws(CommandFailure) -> [InputLine]? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.readBatch()) }
            }
        } onCancel: {
            var byte: UInt8 = 1
            _ = write(wake.write, &byte, 1)
        }
        return try result.get()
    }

    private func readBatch() -> Result<[InputLine]?, CommandFailure> {
        state.withLock { state in
            guard !state.hasEnded else { return .success(nil) }
            var lines: [InputLine] = []
            switch readChunk(into: &state.splitter, lines: &lines) {
            case .success(true):
                return .success(lines)
            case .success(false):
                state.hasEnded = true
                return .success(lines.isEmpty ? nil : lines)
            case .failure(let failure):
                state.hasEnded = true
                return .failure(failure)
            }
        }
    }

    /// False at the end of the input.
    private func readChunk(into splitter: inout LineSplitter, lines: inout [InputLine]) -> Result<Bool, CommandFailure> {
        while true {
            var both = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
            ]
            // Regular files are always ready; some devices cannot be polled, and then only the read can tell.
            if poll(&both, 2, -1) < 0, errno == EINTR { continue }
            guard both[1].revents == 0 else { return .success(false) }
            let count = withUnsafeTemporaryAllocation(byteCount: Self.chunkSize, alignment: 1) { buffer in
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count > 0 { splitter.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), into: &lines) }
                return count
            }
            if count > 0 { return .success(true) }
            if count == 0 {
                splitter.finish(into: &lines)
                return .success(false)
            }
            if errno != EINTR, errno != EAGAIN {
                return .failure(CommandFailure(.noUsableInput, "Cannot read \(name): \(Descriptor.message(errno))."))
            }
        }
    }
}
