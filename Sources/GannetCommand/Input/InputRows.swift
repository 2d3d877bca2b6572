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
        /// A copy of an input that can be read only once, and its folder.
        var copy: (descriptor: Int32, folder: String)?
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
            var isPassedOn = false
            defer { if !isPassedOn { close(opened) } }
            if let parquet = try Self.parquet(opened, path: path, name: name, options) {
                try self.init(descriptor: parquet.table.rows, owned: true, name: name, parquet.options, from: parquet.table.child)
            } else {
                isPassedOn = true
                try self.init(descriptor: opened, owned: true, name: name, options)
            }
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
        if let copy = state.withLock({ $0.copy }) { close(copy.descriptor) }
        close(wake.read)
        close(wake.write)
    }

    private static func isRegular(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether the rows that were read are sitemaps, which an index lists in place of pages.
    var listsSitemaps: Bool { state.withLock { $0.listsSitemaps } }

    /// Copies all that is read into a file of this folder, which has room for the whole input. The file has no name: it is gone when no
    /// process has it open.
    func keepCopy(in folder: String) throws {
        let path = "\(folder)/input-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let copy = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard copy >= 0 else { throw Self.copyFailure(errno, folder) }
        unlink(path)
        state.withLock { $0.copy = (copy, folder) }
    }

    /// The rows of the copy; for a caller who has read all of them. Descriptors that are open at the same time share their position.
    func copy(_ options: ListOptions) throws -> InputRows? {
        guard let (descriptor, folder) = state.withLock({ $0.copy }) else { return nil }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.copyFailure(errno, folder) }
        let opened = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard opened >= 0 else { throw Self.copyFailure(errno, folder) }
        return try InputRows(descriptor: opened, owned: true, name: "the copy of \(name)", options)
    }

    private static func copyFailure(_ code: Int32, _ folder: String) -> CommandFailure {
        CommandFailure(.cannotWrite, "The input cannot be copied to the folder \(Sentence.quoted(folder)): \(Descriptor.message(code)).")
    }

    /// The rows of the next chunk: possibly none (a chunk of comments), nil at the end of the input.
    /// - Parameter limit: How long to wait for input. After that there are no rows.
    func nextBatch(atMost limit: Duration? = nil) async throws -> RowBatch? {
        // Rows of a packed list come for long without a read.
        try Task.checkCancellation()
        let deadline = limit.map { ContinuousClock.now + $0 }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.readBatch(until: deadline)) }
            }
        } onCancel: {
            var byte: UInt8 = 1
            _ = write(wake.write, &byte, 1)
        }
        let batch = try result.get()
        // A reader that was cancelled looks like an input that has ended; only the task knows.
        if batch == nil { try Task.checkCancellation() }
        return batch
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
            if let deadline, !wait(until: deadline).hasInput { return }
            guard let count = try readChunk(into: state.buffer.bytes, since: state.lastNews) else {
                state.hasEnded = true
                return
            }
            state.lastNews = .now
            if let copy = state.copy, let code = Descriptor.writeAll(Array(state.buffer.bytes[..<count])[...], to: copy.descriptor) {
                throw Self.copyFailure(code, copy.folder)
            }
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

    /// Waits until there is input, and at most until a moment.
    private func wait(until end: ContinuousClock.Instant?) -> (hasInput: Bool, isWoken: Bool) {
        while true {
            // The input, and the pipe that wakes its reader.
            var both = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
            ]
            let left = end.map { max(.zero, $0 - .now) / Duration.milliseconds(1) }
            // Regular files are always ready. Some devices cannot be polled, and then only the read can tell.
            let count = poll(&both, 2, left.map { Int32($0.rounded(.up)) } ?? -1)
            if count >= 0 || errno != EINTR { return (count != 0, both[1].revents != 0) }
        }
    }

    /// The number of bytes read: 0 at the end of the input, nil when the task was cancelled.
    /// - Parameter news: When bytes came before. A child that has waited for its reader has filled the pipe meanwhile.
    private func readChunk(into buffer: UnsafeMutableRawBufferPointer, since news: ContinuousClock.Instant) throws -> Int? {
        while true {
            let (hasInput, isWoken) = wait(until: child == nil ? nil : news + patience)
            if !hasInput {
                child?.kill()
                throw CommandFailure(.program("it has written nothing for \(Amounts.time(patience))"), reading: name)
            }
            if isWoken { return nil }
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR, errno != EAGAIN {
                throw CommandFailure(.noUsableInput, "Cannot read \(name): \(Descriptor.message(errno)).")
            }
        }
    }
}

/// All rows of a command, a batch at a time: first the URLs of the command line, then those of the input.
struct AllRows {
    private var arguments: [Row]
    private let rows: InputRows?

    init(_ urls: [String], _ rows: InputRows?) {
        arguments = Row.arguments(urls)
        self.rows = rows
    }

    /// - Parameter limit: How long to wait for input. After that there are no rows.
    mutating func next(atMost limit: Duration? = nil) async throws -> [Row]? {
        if arguments.isEmpty { return try await rows?.nextBatch(atMost: limit).map { Array($0) } }
        defer { arguments = [] }
        return arguments
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
