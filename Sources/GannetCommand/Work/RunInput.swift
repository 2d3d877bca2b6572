import Crawl
import GannetBase
import Lists
import Results

/// The input of a run. It is read more than once: to fetch its URLs, and to write the manifest in its order.
final class RunInput: Sendable {
    private let options: InputOptions
    private let first: InputRows?
    /// Of the file when it was opened; `nil` for an input that can be read only once.
    private let fingerprint: String?

    /// Opens it, so that a wrong path is an error before anything is started.
    init(_ options: InputOptions) throws {
        self.options = options
        first = try Feeding.open(options)
        fingerprint = first?.isRegularFile == true ? options.fingerprint : nil
    }

    /// The URLs of the command line.
    var urls: [String] { options.urls }

    /// Whether the part that an interrupted run has not read is lost.
    var isReadOnce: Bool { first != nil && fingerprint == nil }

    /// Keeps a copy of an input that can be read only once, for as long as this object lives.
    /// - Parameter folder: It has room for the copy.
    func prepare(in folder: RecordedFolder) throws {
        if isReadOnce, let first { try first.keepCopy(in: folder.ownPath) }
    }

    /// The rows, for the first time.
    var rows: InputRows? { first }

    /// The rows once more, after all of them have been read.
    func again() throws -> InputRows? {
        guard let first, let source = options.source else { return nil }
        if let copy = try first.copy(options.list) { return copy }
        let rows = try InputRows(source, options.list)
        guard options.fingerprint == fingerprint else {
            throw CommandFailure(
                .noUsableInput,
                "The input file has changed while its URLs were fetched, so no manifest can be written for it. The files in the folder are whole. "
                    + "Run the command again with the file as it is now.")
        }
        return rows
    }
}

/// Two runs are the same run when they have the same input and folder. The same command again finds the queue that a killed run left.
struct RunIdentity: Sendable {
    /// The run's own queue, so that two runs never take each other's jobs.
    let queue: String

    /// One batch feeds the queue.
    static let batch = "run"

    static let prefix = "run-"

    /// - Parameter folder: The folder's own id. Its path is not enough: another machine may have the same path.
    init(_ input: InputOptions, folder: String) {
        var parts = ["folder", folder]
        switch input.source {
        case .file(let path):
            parts += ["file", URL(fileURLWithPath: path).standardizedFileURL.path]
        case .standardInput:
            parts.append("standard input")
        case nil:
            parts += ["arguments"] + input.urls
        }
        queue = Self.prefix + Fingerprint.of(parts)
    }
}
