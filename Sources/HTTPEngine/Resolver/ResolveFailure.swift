/// Why a host name has no address to connect to.
package enum ResolveFailure: Error, Sendable, Hashable {
    /// The name servers say that there is no such name.
    case noSuchName
    /// The name exists and has no address.
    case noAddress
    /// Every name server was asked, and answered that it could not tell.
    case serverFailed(ServerTrouble)
    /// No answer in time, while the name servers do answer: whoever is responsible for this name does not.
    case timedOut
    /// No name server answers anything. Any other name would have fared the same.
    case noNameServer
    /// No file descriptor, or no memory, was left to ask with.
    case systemLimit
    /// The text cannot be a host name.
    case badName(BadName)
    /// A name of a network that DNS has no part in, and must not hear of.
    case onion

    /// What a name server had against a question.
    package enum ServerTrouble: String, Sendable, Hashable {
        case serverFailure = "SERVFAIL"
        case refused = "REFUSED"
        case formatError = "FORMERR"
        case notImplemented = "NOTIMP"
        /// An answer that breaks the rules, such as names that are aliases of each other.
        case nonsense = "an answer that makes no sense"
        case other = "an unknown error"
    }

    /// What is wrong with a host name.
    package enum BadName: String, Sendable, Hashable {
        case empty = "it is empty"
        case tooLong = "it has more than 253 characters"
        case emptyLabel = "two dots follow each other, or it begins with one"
        case longLabel = "a part between dots has more than 63 characters"
        case character = "it has a character that host names do not have"
        case numeric = "it ends in a number but is no IP address"
    }
}

extension ResolveFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        // The sentence of the error that this becomes a part of says it.
        case .noSuchName, .noAddress: ""
        case .serverFailed(let trouble): "the name servers could not tell (\(trouble.rawValue))"
        case .timedOut: "no answer in time, while the name servers answer for other names"
        case .noNameServer: "check the network and /etc/resolv.conf"
        case .systemLimit: "no file descriptor or memory was left to ask a name server; \(SystemLimit.advice)"
        case .badName(let why): "not a host name: \(why.rawValue)"
        case .onion: "names under .onion are never looked up"
        }
    }
}
