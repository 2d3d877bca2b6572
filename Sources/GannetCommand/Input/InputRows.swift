import Dispatch
import GannetBase
import Lists

/// The rows of a file or of standard input, a batch at a time. The input may be of any length and speed.
///
/// Reading blocks a thread of its own, never one that runs tasks. One reader at a time.
final class InputRows: Sendable {
    private struct State {
        let reader: ListReader
        /// Bytes that have been read and are not yet rows.
        var rest: Range<Int> = 0..<0
        var wantsMore = true
        /// Thrown after the rows before it.
        var failure: (any Error)?
        var hasEnded = false
        var listsSitemaps = false
        var copy: InputCopy?
        let buffer: Buffer
        /// When the last bytes came.
        var lastNews = ContinuousClock.now
    }

    /// Memory for one chunk, used again for the next.
    private final class Buffer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        deinit { bytes.deallocate() }
    }

    private let name: String
    /// Whether the user has named the format.
    private let hasFormat: Bool
    private let descriptor: Int32
    private let owned: Bool
    /// The program that writes the rows of a Parquet file to the descriptor, and how long it may be silent.
    private let child: TableChild?
    private let patience: Duration
    /// Whether the input can be read again from its path.
    let isRegularFile: Bool

    /// A file system that has not answered for so long is taken to be gone.
    static let patience = Duration.seconds(600)
    /// Closing its write end wakes a reader that waits for a silent pipe or terminal.
    private let wake: (read: Int32, write: Int32)
    private let queue = DispatchQueue(label: "gannet.input")
    private let state: Mutex<State>

    /// In a container the working folder is another one than the user's, so the sentence names it.
    private static func problem(_ code: Int32, _ path: String) -> String {
        if code != ENOENT || path.hasPrefix("/") { return Descriptor.message(code) }
        return "there is no such file in \(Sentence.quoted(FileManager.default.currentDirectoryPath))"
    }

    /// Opens the input; a file that cannot be read is no usable input.
    convenience init(_ source: InputOptions.Source, _ options: ListOptions) throws {
        switch source {
        case .standardInput:
            let input = Surroundings.current.input
            if let code = StandardDescriptors.inputError(of: input) {
                throw CommandFailure(.noUsableInput, "Standard input cannot be read: \(Descriptor.message(code)).")
            }
            try self.init(descriptor: input, owned: false, name: "standard input", options)
        case .file(let path):
            let shown = Sentence.quoted(path)
            let opened = open(path, O_RDONLY | O_CLOEXEC)
            guard opened >= 0 else {
                throw CommandFailure(.noUsableInput, "The input file \(shown) cannot be read: \(Self.problem(errno, path)).")
            }
            let name = "the input file \(shown)"
            let parquet: ParquetInput?
            do {
                parquet = try ParquetInput(opened, path: path, name: name, options)
            } catch {
                close(opened)
                throw error
            }
            guard let parquet else {
                try self.init(descriptor: opened, owned: true, name: name, options)
                return
            }
            close(opened)
            try self.init(descriptor: parquet.table.rows, owned: true, name: name, parquet.options, from: parquet.table.child)
        }
    }

    /// - Parameters:
    ///   - child: Writes the rows to the other end of the descriptor, a pipe. They are all of them only if it then ends well.
    ///   - patience: How long the child may write nothing while its rows are waited for.
    init(
        descriptor: Int32, owned: Bool, name: String, _ options: ListOptions, from child: TableChild? = nil, patience: Duration = patience
    ) throws {
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
        self.child = child
        self.patience = patience
        isRegularFile = child != nil || owned && Self.isRegular(descriptor)
        self.name = name
        hasFormat = options.format != nil
        self.wake = wake
        state = Mutex(State(reader: ListReader(options), buffer: Buffer()))
    }

    /// Why a descriptor cannot be an input, as far as that shows before reading. So no work is begun in vain.
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

    private static func isRegular(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether the rows that were read are sitemaps, which an index lists in place of pages.
    var listsSitemaps: Bool { state.withLock { $0.listsSitemaps } }

    /// Copies all that is read into a file of this folder. The file goes with this object.
    func keepCopy(in folder: String) throws {
        let copy = try InputCopy(in: folder)
        state.withLock { $0.copy = copy }
    }

    /// The rows of the copy; for a caller who has read all of them.
    func copy(_ options: ListOptions) throws -> InputRows? {
        guard let copied = state.withLock({ $0.copy }) else { return nil }
        return try InputRows(descriptor: try copied.reopened(), owned: true, name: "the copy of \(name)", options)
    }

    /// The rows of the next chunk: possibly none (a chunk of comments), nil at the end of the input or when the task is cancelled.
    /// - Parameter limit: How long to wait for input. After that there are no rows.
    func nextBatch(atMost limit: Duration? = nil) async throws -> RowBatch? {
        // Rows of a packed list come for long without a read.
        if Task.isCancelled { return nil }
        let deadline = limit.map { ContinuousClock.now + $0 }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.readBatch(until: deadline)) }
            }
        } onCancel: {
            var byte: UInt8 = 1
            _ = write(wake.write, &byte, 1)
        }
        return try result.get()
    }

    private func readBatch(until deadline: ContinuousClock.Instant?) -> Result<RowBatch?, any Error> {
        state.withLock { state in
            var rows = RowBatch()
            if !state.hasEnded {
                do {
                    try advance(&state, &rows, until: deadline)
                } catch {
                    state.hasEnded = true
                    state.failure = error
                }
            }
            state.listsSitemaps = state.listsSitemaps || rows.listsSitemaps
            guard state.hasEnded, rows.isEmpty else { return .success(rows) }
            return state.failure.map(Result.failure) ?? .success(nil)
        }
    }

    private func advance(_ state: inout State, _ rows: inout RowBatch, until deadline: ContinuousClock.Instant?) throws {
        if state.wantsMore {
            if let deadline, !hasInput(before: deadline) { return }
            guard let count = try readChunk(into: state.buffer.bytes, since: state.lastNews) else {
                state.hasEnded = true
                return
            }
            state.lastNews = .now
            try state.copy?.append(UnsafeRawBufferPointer(rebasing: state.buffer.bytes[..<count]))
            guard count > 0 else {
                state.hasEnded = true
                // Before its last line is taken for a whole one.
                do { try child?.finish() } catch { throw CommandFailure(error, reading: name) }
                try reading { try state.reader.finish(into: &rows) }
                return
            }
            state.rest = 0..<count
        }
        rows = RowBatch(capacity: state.rest.count)
        var chunk = UnsafeRawBufferPointer(rebasing: state.buffer.bytes[state.rest])
        try reading { state.wantsMore = !(try state.reader.read(&chunk, into: &rows)) }
        state.rest = (state.rest.upperBound - chunk.count)..<state.rest.upperBound
    }

    private func reading(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            let reason = (error as? ListError)?.reason(hasFormat: hasFormat) ?? "\(error)"
            throw CommandFailure(.noUsableInput, "Cannot read \(name): \(reason)")
        }
    }

    /// Waits for input; false if none came in time.
    private func hasInput(before deadline: ContinuousClock.Instant) -> Bool {
        while true {
            var both = descriptors
            let left = max(.zero, deadline - .now) / Duration.milliseconds(1)
            let count = poll(&both, 2, Int32(left.rounded(.up)))
            if count >= 0 || errno != EINTR { return count != 0 }
        }
    }

    /// The input, and the pipe that wakes its reader.
    private var descriptors: [pollfd] {
        [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)]
    }

    /// The number of bytes read: 0 at the end of the input, nil when the task was cancelled.
    /// - Parameter news: When bytes came before. A child that has waited for its reader has filled the pipe meanwhile.
    private func readChunk(into buffer: UnsafeMutableRawBufferPointer, since news: ContinuousClock.Instant) throws -> Int? {
        while true {
            var both = descriptors
            let left = max(.zero, news + patience - .now) / Duration.milliseconds(1)
            // Regular files are always ready. Some devices cannot be polled, and then only the read can tell.
            let ready = poll(&both, 2, child == nil ? -1 : Int32(left.rounded(.up)))
            if ready < 0, errno == EINTR { continue }
            if ready == 0 {
                child?.kill()
                throw CommandFailure(.program("it has written nothing for \(Amounts.time(patience))"), reading: name)
            }
            guard both[1].revents == 0 else { return nil }
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR, errno != EAGAIN {
                throw CommandFailure(.noUsableInput, "Cannot read \(name): \(Descriptor.message(errno)).")
            }
        }
    }
}

/// A copy of an input that can be read only once, in a file without a name: it is gone when no process has it open.
final class InputCopy: Sendable {
    private let descriptor: Int32
    private let folder: String

    /// - Parameter folder: It has room for the whole input.
    init(in folder: String) throws {
        self.folder = folder
        let path = "\(folder)/input-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        unlink(path)
    }

    deinit { close(descriptor) }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        if let code = Descriptor.writeAll(Array(bytes)[...], to: descriptor) { throw failure(code) }
    }

    /// A descriptor at the beginning of the copy. Descriptors that are open at the same time share their position.
    func reopened() throws -> Int32 {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure(errno) }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw failure(errno) }
        return copy
    }

    private func failure(_ code: Int32) -> CommandFailure {
        CommandFailure(.cannotWrite, "The input cannot be copied to the folder \(Sentence.quoted(folder)): \(Descriptor.message(code)).")
    }
}

extension ListError {
    /// The end of a sentence about an input that cannot be read.
    /// - Parameter hasFormat: Whether the user has named the format.
    /// - Parameter count: The number of all columns, where not all are in the error.
    func reason(hasFormat: Bool, ofColumns count: Int? = nil) -> String {
        switch self {
        case .noSuchColumn(let name?, let columns):
            "it has no column \(Sentence.quoted(name)); \(Self.list(columns, count))."
        case .noSuchColumn(nil, let columns):
            "none of its columns has a usual name for URLs, such as 'url' or 'link'; name one with '--column': \(Self.list(columns, count)). "
                + "If it is a list with one URL a line, say '--format text'."
        case .badHeader(let problem): "the header cannot be read: \(problem)."
        case .tooManyColumns(let limit): "it has more than \(limit) columns."
        case .optionDoesNotApply(let option, let format):
            "'--\(option.rawValue)' does not apply to \(format.name)"
                + (hasFormat ? "." : "; if the input is something else, say so with '--format'.")
        case .other(let what): "it is \(what)."
        case .jsonArray: "it is a JSON array; what can be read is one object a line, as 'jq -c .[]' makes of it."
        case .otherDocument(let root): "it is XML that begins with <\(Sentence.quoted(root).dropFirst().dropLast())>, not a sitemap."
        case .ownEntities(let line): "line \(line) declares entities of its own, which are not read."
        case .badXML(let line): "line \(line) is not well-formed XML."
        case .endsEarly(let line): "it ends in the middle of the sitemap, in line \(line)."
        case .badCompression(let detail): "its gzip compression is damaged (\(detail))."
        case .packed: "it is packed with gzip; unpack it first."
        case .truncatedCompression: "its gzip compression ends in the middle: part of it is missing."
        case .outOfMemory: "there is no memory to unpack it."
        }
    }

    private static func list(_ columns: [String], _ count: Int?) -> String {
        let shown = columns.prefix(30).map { Sentence.quoted($0, limit: 60) }.joined(separator: ", ")
        let more = (count ?? columns.count) - 30
        return "its columns are \(shown)\(more > 0 ? " and \(more) more" : "")"
    }
}

extension ListFormat {
    fileprivate var name: String {
        switch self {
        case .text: "a list of text with one URL a line"
        case .csv, .tsv: "a table"
        case .jsonl: "JSON lines"
        case .sitemap: "a sitemap"
        case .parquet: "a Parquet file"
        }
    }
}
