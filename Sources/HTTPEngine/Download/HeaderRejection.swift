/// Why a header that somebody wrote down is not sent. Its sentence repeats no value, nor what may be one.
package enum HeaderRejection: Error, Sendable, Equatable {
    case noColon
    case badName
    case noValue(name: String)
    case controlCharacters(name: String)
    case tooLong(name: String, limit: Int)
    case ownedByEngine(name: String)
    case partOrNews(name: String)
}

extension HeaderRejection: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noColon: "it has no colon; write 'Name: value'"
        case .badName: "what stands before its colon is no header's name, which is of letters, digits and dashes, without blanks"
        case .noValue(let name): "'\(name)' has no value"
        case .controlCharacters(let name): "the value of '\(name)' has a line break or another control character"
        case .tooLong(let name, let limit): "the value of '\(name)' has more than \(limit) bytes"
        case .ownedByEngine(let name): "'\(name)' is set by gannet itself"
        case .partOrNews(let name):
            "'\(name)' asks for a part of the body, or for news of one, and what is fetched here is the whole"
        }
    }
}
