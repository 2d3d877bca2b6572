internal import GannetBase

/// Why an archive was not written or not completed.
package enum ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The system refused `action` at `path`.
    case system(action: String, path: String, errno: Int32)
    /// The caller's values cannot stand in an archive. Nothing was written, and others can be.
    case unfit(String)
    /// A body has fewer bytes than its exchange or sample says. Nothing of it was written.
    case shortBody(expected: Int, found: Int)
    /// A file in the folder is not as this module leaves it.
    case foreign(path: String, String)
    /// The writer was closed, or an earlier failure has left it unusable. The next run recovers its file.
    case ended(String)

    package var description: String {
        switch self {
        case .system(let action, let path, let errno):
            "The file \(path.debugDescription) could not be \(action): \(Descriptor.message(errno))."
        case .unfit(let sentence): sentence
        case .shortBody(let expected, let found): "A body should have \(expected) bytes, and \(found) could be read."
        case .foreign(let path, let sentence): "The file \(path.debugDescription) \(sentence)"
        case .ended(let sentence): sentence
        }
    }

    /// Takes `errno` as it is now.
    static func refused(_ action: String, _ path: String) -> ArchiveError { .system(action: action, path: path, errno: errno) }
}
