/// One line of input that is neither blank nor a comment.
struct InputLine: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        /// Without its line break, and without blanks around it. Whether it is a URL is for others to say.
        case text([UInt8])
        case invalid(Problem)
    }

    enum Problem: Sendable, Equatable {
        case tooLong(limit: Int)
        case nul

        var description: String {
            switch self {
            case .tooLong(let limit): "the line is longer than \(limit) bytes"
            case .nul: "the line contains a NUL byte"
            }
        }
    }

    /// From 1; blank lines and comments count.
    let number: Int
    let content: Content
}
