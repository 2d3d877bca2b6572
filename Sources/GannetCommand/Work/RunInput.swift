import Crawl
import GannetBase
import Lists
import Results

/// The input of a run. It is read more than once: to fetch its URLs, and to write the manifest in its order.
final class RunInput: Sendable {
    private let options: InputOptions
    /// The rows, for the first time.
    let rows: InputRows?
    /// Of the file when it was opened; `nil` for an input that can be read only once.
    private let fingerprint: String?

    /// Opens it, so that a wrong path is an error before anything is started.
    init(_ options: InputOptions) throws {
        self.options = options
        rows = try Feeding.open(options)
        fingerprint = rows?.isRegularFile == true ? options.fingerprint : nil
    }

    /// Whether the part that an interrupted run has not read is lost.
    var isReadOnce: Bool { rows != nil && fingerprint == nil }

    /// Keeps a copy of an input that can be read only once, for as long as this object lives.
    /// - Parameter folder: It has room for the copy.
    func prepare(in folder: RecordedFolder) throws {
        if isReadOnce { try rows?.keepCopy(in: folder.ownPath) }
    }

    /// All rows once more, after all of them have been read.
    func again() throws -> AllRows {
        guard let rows else { return AllRows(options.urls, nil) }
        if let copy = try rows.copy(options.list) { return AllRows(options.urls, copy) }
        let opened = try Feeding.open(options)
        guard options.fingerprint == fingerprint else {
            throw CommandFailure(
                .noUsableInput,
                "The input file has changed while its URLs were fetched, so no manifest can be written for it. The files in the folder are whole. "
                    + "Run the command again with the file as it is now.")
        }
        return AllRows(options.urls, opened)
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
