/// Why a host name has no address to connect to.
package enum ResolveFailure: Error, Sendable, Hashable {
    /// The name servers say that there is no such name.
    case noSuchName
    /// The name exists and has no address.
    case noAddress
    /// Every name server was asked, and none could answer the question.
    case serverFailed(ServerTrouble)
    /// No answer in time, while the name servers do answer: the servers of this name's own domain do not.
    case timedOut
    /// No name server answers any question. Any other name would have failed too.
    case noNameServer
    /// No file descriptor, or no memory, was left to ask with.
    case systemLimit
    /// The text cannot be a host name.
    case badName(BadName)
    /// A name of the Tor network, which must not be sent to a name server.
    case onion

    /// A name server's reason not to answer a question.
    package enum ServerTrouble: String, Sendable, Hashable {
        case serverFailure = "SERVFAIL"
        case refused = "REFUSED"
        case formatError = "FORMERR"
        case notImplemented = "NOTIMP"
        /// An answer that breaks the rules, such as names that are aliases of each other.
        case nonsense = "a malformed answer"
        case other = "an unknown error"
    }

    /// Why a text is no host name.
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

/// The outcome of a look-up: addresses to try in this order, at least one and at most 16, or why there are none.
typealias Resolution = Result<[IPAddress], ResolveFailure>
