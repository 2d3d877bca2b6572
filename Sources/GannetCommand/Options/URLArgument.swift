import Crawl
import GannetQueue

/// The one URL that a command is about, or the first digits of its id.
enum URLArgument: Sendable {
    case url(RequestedURL, text: String)
    case id(URLIDPrefix)

    static let positional = Positional(
        "url", isSingle: true, "The URL as it would be enqueued, or the first digits of its id, which 'jobs list' shows.")

    init(_ arguments: Arguments) throws {
        let headers = try HeaderOption.headers(from: arguments)
        guard let prefix = URLIDPrefix(arguments.single) else {
            self = .url(try RequestedURL(arguments.single, headers: headers), text: arguments.single)
            return
        }
        if !headers.names.isEmpty { throw arguments.usageError("'--header' goes with a URL, not with the digits of an id.") }
        self = .id(prefix)
    }

    /// The URL, and its text with credentials.
    /// - Parameter queue: Jobs of this queue are looked at too.
    func find(in cluster: ClusterState, queue: String, _ console: Console) async throws -> (url: RequestedURL, text: String) {
        switch self {
        case .url(let url, let text): return (url, text)
        case .id(let prefix):
            let search = try await cluster.search(prefix, queue: queue)
            guard let match = search.match else { throw Self.nothing(search, prefix) }
            guard search.count == 1 else {
                throw CommandFailure(
                    .wrongUsage,
                    "\(search.hasGivenUp ? "At least " : "")\(search.count) URLs have ids that begin with '\(prefix.digits)': give more digits."
                )
            }
            if search.hasGivenUp { console.note("\(Self.bound), so another id may begin with '\(prefix.digits)' too.") }
            return (try RequestedURL(known: match), match.url)
        }
    }

    private static func nothing(_ search: URLSearch, _ prefix: URLIDPrefix) -> CommandFailure {
        let sentence = "No job and no kept outcome has a URL whose id begins with '\(prefix.digits)'"
        return CommandFailure(
            .wrongUsage, search.hasGivenUp ? "\(sentence), as far as \(bound): name the URL itself." : "\(sentence).")
    }

    private static var bound: String {
        "the search went: it ends after \(URLSearch.mostKeys) keys of Redis and \(URLSearch.mostJobs) jobs"
    }
}
