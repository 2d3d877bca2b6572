import CommandLineKit
import Dispatch
import GannetBasics
import URLLists

/// The rows of a file or of standard input, a batch at a time, however long the input is and however slowly it comes.
///
/// Reading blocks a thread of its own, never one that runs tasks. One reader at a time.
final class InputRows: Sendable {
    private struct State {
        let reader: ListReader
        /// What has been read and not yet been made into rows.
        var rest: Range<Int> = 0..<0
        var wantsMore = true
        /// Told after the rows before it.
        var failure: CommandFailure?
        var hasEnded = false
        var copy: InputCopy?
        let buffer: Buffer
    }

    /// Where chunks are read to, kept from one to the next.
    private final class Buffer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        deinit { bytes.deallocate() }
    }

    private let name: String
    private let descriptor: Int32
    private let owned: Bool
    /// Closing its write end wakes a reader that waits for a silent pipe or terminal.
    private let wake: (read: Int32, write: Int32)
    private let queue = DispatchQueue(label: "gannet.input")
    private let state: Mutex<State>

    /// Opens the input; a file that cannot be read is no usable input.
    convenience init(_ source: InputOptions.Source, _ options: ListOptions) throws(CommandFailure) {
        switch source {
        case .standardInput:
            if let code = StandardDescriptors.inputError {
                throw CommandFailure(.noUsableInput, "Standard input cannot be read: \(Descriptor.message(code)).")
            }
            try self.init(descriptor: STDIN_FILENO, owned: false, name: "standard input", options)
        case .file(let path):
            let shown = Sentence.quoted(path)
            let opened = open(path, O_RDONLY | O_CLOEXEC)
            guard opened >= 0 else {
                throw CommandFailure(.noUsableInput, "The input file \(shown) cannot be read: \(Descriptor.message(errno)).")
            }
            try self.init(descriptor: opened, owned: true, name: "the input file \(shown)", options)
        }
    }

    init(descriptor: Int32, owned: Bool, name: String, _ options: ListOptions) throws(CommandFailure) {
        if let problem = Self.problem(with: descriptor) {
            if owned { close(descriptor) }
            throw CommandFailure(.noUsableInput, "Cannot read \(name): \(problem).")
        }
        guard let wake = Descriptor.pipe() else {
            let code = errno
            if owned { close(descriptor) }
            throw CommandFailure(.unavailable, "Cannot open a pipe: \(Descriptor.message(code)).")
        }
        self.descriptor = descriptor
        self.owned = owned
        self.name = name
        self.wake = wake
        state = Mutex(State(reader: ListReader(options), buffer: Buffer()))
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

    /// Whether it can be read again from its path.
    var isRegularFile: Bool {
        var status = stat()
        return owned && fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Has what is read kept in a file of this folder, which is gone when this is.
    func keepCopy(in folder: String) throws(CommandFailure) {
        let copy = try InputCopy(in: folder)
        state.withLock { $0.copy = copy }
    }

    /// The rows of what was kept; to be asked for when all have been read.
    func copy(_ options: ListOptions) throws(CommandFailure) -> InputRows? {
        guard let copied = state.withLock({ $0.copy }) else { return nil }
        return try InputRows(descriptor: try copied.reopened(), owned: true, name: "the copy of \(name)", options)
    }

    /// The rows of the next chunk: possibly none (a chunk of comments), nil at the end of the input or when the task is cancelled.
    func nextBatch() async throws(CommandFailure) -> RowBatch? {
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

    private func readBatch() -> Result<RowBatch?, CommandFailure> {
        state.withLock { state in
            var rows = RowBatch()
            if !state.hasEnded {
                do throws(CommandFailure) {
                    try advance(&state, &rows)
                } catch {
                    state.hasEnded = true
                    state.failure = error
                }
            }
            guard state.hasEnded, rows.isEmpty else { return .success(rows) }
            return state.failure.map(Result.failure) ?? .success(nil)
        }
    }

    private func advance(_ state: inout State, _ rows: inout RowBatch) throws(CommandFailure) {
        if state.wantsMore {
            guard let count = try readChunk(into: state.buffer.bytes) else {
                state.hasEnded = true
                return
            }
            try state.copy?.append(UnsafeRawBufferPointer(rebasing: state.buffer.bytes[..<count]))
            guard count > 0 else {
                state.hasEnded = true
                try reading { () throws(ListError) in try state.reader.finish(into: &rows) }
                return
            }
            state.rest = 0..<count
        }
        rows = RowBatch(capacity: state.rest.count)
        var chunk = UnsafeRawBufferPointer(rebasing: state.buffer.bytes[state.rest])
        try reading { () throws(ListError) in state.wantsMore = !(try state.reader.read(&chunk, into: &rows)) }
        state.rest = (state.rest.upperBound - chunk.count)..<state.rest.upperBound
    }

    private func reading(_ body: () throws(ListError) -> Void) throws(CommandFailure) {
        do throws(ListError) {
            try body()
        } catch {
            throw CommandFailure(.noUsableInput, "Cannot read \(name): \(error.reason)")
        }
    }

    /// How many bytes there are: none at the end of the input, nil when nobody wants them any longer.
    private func readChunk(into buffer: UnsafeMutableRawBufferPointer) throws(CommandFailure) -> Int? {
        while true {
            var both = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
            ]
            // Regular files are always ready; some devices cannot be polled, and then only the read can tell.
            if poll(&both, 2, -1) < 0, errno == EINTR { continue }
            guard both[1].revents == 0 else { return nil }
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR, errno != EAGAIN {
                throw CommandFailure(.noUsableInput, "Cannot read \(name): \(Descriptor.message(errno)).")
            }
        }
    }
}
