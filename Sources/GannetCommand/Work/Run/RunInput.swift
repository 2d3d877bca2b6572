import Gannet
import GannetBasics
import URLLists

/// The input of a run, which is read more than once: to fetch what it lists, and to say in its order what became of it.
final class RunInput: Sendable {
    private let options: InputOptions
    private let first: InputRows?
    /// What the file was when it was opened; `nil` for an input that can be read only once.
    private let fingerprint: String?

    /// Opens it, so that a wrong path is told before anything is started.
    init(_ options: InputOptions) throws(CommandFailure) {
        self.options = options
        first = try Feeding.open(options)
        fingerprint = first?.isRegularFile == true ? options.fingerprint : nil
    }

    /// The URLs of the command line.
    var urls: [String] { options.urls }

    /// Whether what an interrupted run has not read is gone.
    var isReadOnce: Bool { first != nil && fingerprint == nil }

    /// Has a copy kept of an input that can be read only once, until this is gone.
    /// - Parameter folder: Where there is room for it.
    func prepare(in folder: RecordedFolder) throws(CommandFailure) {
        if isReadOnce, let first { try first.keepCopy(in: folder.ownPath) }
    }

    /// The rows, for the first time.
    var rows: InputRows? { first }

    /// The rows once more, after all of them have been read.
    func again() throws(CommandFailure) -> InputRows? {
        guard let first, let source = options.source else { return nil }
        if let copy = try first.copy(options.list) { return copy }
        let rows = try InputRows(source, options.list)
        guard options.fingerprint == fingerprint else {
            throw CommandFailure(
                .noUsableInput,
                "The input file has changed while its URLs were fetched: what became of its rows cannot be said. What is in the folder is whole; "
                    + "run the command again with the file as it is now.")
        }
        return rows
    }
}
