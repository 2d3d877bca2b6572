internal import GannetBase
internal import GannetFetch
internal import GannetHTTP
internal import GannetQueue
internal import GannetRedis

/// Whether sites permit requests, by the robots.txt of their origins. All jobs of a worker ask here before each request and each redirect.
///
/// The rules of the origins that were asked about last stay in memory. Jobs that ask at the same time share one fetch, and the fleet
/// shares it with them: see ``RobotsFetch``.
final class Sites: Sendable {
    enum Permission: Sendable {
        /// The site may ask for a time between two requests (`Crawl-delay`).
        case granted(delay: Duration?)
        /// A rule says no, in these words.
        case denied(String)
        /// The file cannot be had, so nobody knows what the site permits. A request for the URL itself would have failed alike.
        case unknown(FetchError)
    }

    /// A file as its source has it. An empty one stands for a file that is not there.
    struct File: Sendable {
        let bytes: [UInt8]
        let freshFor: Duration
        /// Whether the origin was asked for it just now.
        var isNew = false
    }

    typealias Source = @Sendable (_ url: String) async -> Result<File, FetchError>

    private typealias Entry = Result<RobotsRules, FetchError>

    /// No job waits longer for a robots.txt.
    static let longestLook = Duration.seconds(30)
    /// A file is not used for longer, whatever its origin says of it (RFC 9309, section 2.4).
    static let longestUse = Duration.seconds(86_400)

    private static let mostBytes = 64 << 20
    private static let mostOrigins = 20_000
    private static let entryBytes = 512

    /// The product token that groups of rules name.
    let agent: String
    /// An origin that answered without a robots.txt that can be read is asked again after this time.
    private let pause: Duration
    private let source: Source
    private let entries = MemoryCache<String, Entry>(MemoryCacheOptions(costLimit: mostBytes, countLimit: mostOrigins))

    init(userAgent: String?, pause: Duration = WorkerOptions().sitePause, source: @escaping Source) {
        agent = Self.productToken(of: userAgent ?? FetchSettings.defaultUserAgent)
        self.pause = pause
        self.source = source
    }

    /// The first word of a user agent, as far as a product token can have its characters (RFC 9309, section 2.2.1).
    static func productToken(of userAgent: String) -> String {
        let token = userAgent.prefix { $0.isASCII && $0.isLetter || $0 == "_" || $0 == "-" }
        return token.isEmpty ? "gannet" : String(token)
    }

    /// - Parameters:
    ///   - asks: Called when the rules are not in memory, and somebody has to be asked for them.
    ///   - asked: Called when the origin has answered a request for its rules.
    func permission(
        for url: CanonicalURL, asks: @Sendable () -> Void = {}, asked: @Sendable () -> Void = {}
    ) async -> Permission {
        let path = url.pathAndQuery
        // The rules are never about themselves.
        if path == Self.path { return .granted(delay: nil) }
        let place = url.plainOrigin + Self.path
        switch await entry(at: place, asks, asked) {
        case .success(let rules):
            switch rules.verdict(path: path) {
            case .allowed: return .granted(delay: rules.crawlDelay.flatMap { $0 > 0 ? .seconds(min($0, Self.longestDelay)) : nil })
            case .disallowed(let rule, let line): return .denied("line \(line) of \(place) says '\(rule)'")
            }
        case .failure(let error): return .unknown(error)
        }
    }

    private static let path = "/robots.txt"
    /// In seconds: enough for any pace, and no number that a duration could not have.
    private static let longestDelay = 3600.0

    private func entry(at place: String, _ asks: @Sendable () -> Void, _ asked: @Sendable () -> Void) async -> Entry {
        if let entry = entries.value(for: place) { return entry }
        asks()
        let file = await source(place)
        if case .success(let file) = file, file.isNew { asked() }
        // Another job has read the same file meanwhile.
        if let entry = entries.value(for: place) { return entry }
        let (entry, time, bytes) = read(file)
        // An origin that gave no answer rests in Redis, and the job that comes then is its next probe.
        if case .failure(let error) = entry, Settlement.HostNews(error.kind) != .answered { return entry }
        entries.insert(entry, for: place, cost: bytes + place.utf8.count + Self.entryBytes, timeToLive: time)
        return entry
    }

    private func read(_ file: Result<File, FetchError>) -> (Entry, Duration, bytes: Int) {
        switch file {
        case .success(let file):
            let time = min(max(file.freshFor, pause), Self.longestUse)
            let rules = RobotsFile(file.bytes).rules(for: agent)
            return (.success(rules), time, file.bytes.count)
        case .failure(let error):
            return (.failure(error), max(pause, error.retry.rest ?? .zero), 0)
        }
    }
}

extension ResponseHeaders {
    /// The first words of the head against the use of the body. A body of an unknown type may be an image.
    func optOut(for agent: String) -> String? {
        guard has("x-robots-tag") || has("tdm-reservation") else { return nil }
        let isImage = leaveTypeOpen || self["content-type"]?.lowercased().hasPrefix("image/") ?? false
        return OptOut.refusal(in: fields, for: agent, isImage: isImage)
    }
}
