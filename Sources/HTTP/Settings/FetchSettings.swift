internal import GannetBase

/// How URLs are fetched: for how long, how much, from where, and in whose name.
///
/// The defaults suit a program that fetches from the public internet.
public struct FetchSettings: Sendable {
    /// The time for all of a transfer that does not move: look-ups, connections and the waits for answers, redirects included. From
    /// 1 millisecond to 7 days.
    ///
    /// An answer has to begin within half of it. Then its body may take longer, as long as it moves: it fails when nothing comes for half of
    /// this time. A body that has lasted for the whole of this time also has to bring 1 KB a second. So a transfer ends within three times
    /// `timeout` and one second for each kilobyte of its body.
    public var timeout: Duration = .seconds(60)

    /// The time for a connection to a host, TLS included; from 1 millisecond to 7 days.
    public var connectTimeout: Duration = .seconds(10)

    /// The time from a request to the end of its answer's headers, for each redirect anew. Without one it is half of `timeout`: a longer timeout
    /// is meant for slow servers.
    package var answerTimeout: Duration?

    /// A body that brings fewer bytes a second in a window fails; 0 permits any speed, but no standstill.
    package var minimumSpeed = 100

    /// The same for a body that has lasted longer than `timeout`.
    ///
    /// It bounds the time for which an origin that drips can hold a place, while lines that many transfers share are mostly faster. Below it, a
    /// body of 100 MB would take more than a day.
    package var lastingSpeed = 1000

    /// See `minimumSpeed`. Without one it is half of `timeout`.
    package var minimumSpeedWindow: Duration?

    /// How many bytes of bodies a second all transfers of an engine receive together, as they come through the network. nil permits any speed.
    ///
    /// Under such a limit requests are made with HTTP/1.1: a paused stream of HTTP/2 would hold up the other streams of its connection.
    package var maximumSpeed: Int?

    /// The largest body in bytes, packed and unpacked, up to 1 TB. An announced length above it fails before the first byte.
    public var maximumBody: Int64 = 100_000_000

    /// Bounds the bodies that are in memory on their way, over all transfers. Without it each may be as large as `maximumBody`.
    package var room: BodyRoom?

    /// The most bytes of response headers, over all redirects of one transfer.
    package var maximumHeaders = 256 * 1024

    /// How many redirects are followed, from 0 to 100.
    public var maximumRedirects = 10

    /// The `User-Agent` of every request; without one ``defaultUserAgent``. When you fetch much, put a way to reach you in it.
    ///
    /// A user agent that was set is part of the key under which answers are kept. With another one, none of the earlier answers is found.
    public var userAgent: String?

    /// A PEM file of certificate authorities to trust instead of the system's.
    package var caFile: String?

    /// An HTTP or SOCKS proxy: `http://[user:password@]host:port`, `https://…`, or `socks5h://…`. Without one origins are connected to directly,
    /// and the environment's `http_proxy` is ignored.
    package var proxy: String?

    /// Private networks that may be fetched from, such as `10.0.0.0/8`, or `all`. By default only the public internet may be: neither a redirect
    /// nor a host name can lead into the network this program runs in. Behind a proxy, the proxy decides.
    public var allowedNetworks: [String] = []

    /// The most transfers at a time, from all hosts together, up to 65,536. More wait.
    public var maximumInFlight = 64

    /// How many transfers have their host looked up, or wait for a place after that.
    package var maximumLookUps = 16_384

    /// How host names are looked up.
    package var resolver = ResolverOptions()

    public init() {}

    /// The name and version of this library.
    public static let defaultUserAgent = "gannet/\(Version.current)"

    package static let times: ClosedRange<Duration> = .milliseconds(1)...(.seconds(7 * 86_400))
    package static let bodySizes = 1...1_000_000_000_000
    /// Below a kilobyte a second hardly any page would come within the time for a transfer.
    package static let speeds = 1024...(1 << 40)

    /// A bound on the time of one transfer. It has one timeout for all that does not move, one for the beginning of the body, and a window for
    /// its end. Between these the body comes at the least speed. The time for which a speed limit holds it back comes on top.
    package var longestTransfer: Duration {
        let body = Double(maximumBody) / Double(max(1, lastingSpeed))
        let heldBack = maximumSpeed.map { Double(maximumBody) * Double(maximumInFlight) / Double($0) } ?? 0
        return timeout * 2 + (minimumSpeedWindow ?? timeout / 2) + min(Self.longest, .seconds(body + heldBack))
    }

    private static let longest = Duration.seconds(365 * 86_400)

    /// Throws when a setting could not be meant, or could not be given to libcurl.
    package func validate() throws(InvalidOptions) { _ = try EngineSettings(self) }
}

/// Prints without the proxy's password, in a log, in a dump, or as a part of something else.
extension FetchSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "timeout": timeout, "connectTimeout": connectTimeout, "maximumBody": maximumBody, "maximumRedirects": maximumRedirects,
            "userAgent": userAgent as Any, "caFile": caFile as Any, "proxy": proxy.map { RedactedURL(address: $0).description } as Any,
            "allowedNetworks": allowedNetworks, "maximumInFlight": maximumInFlight, "maximumSpeed": maximumSpeed as Any,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}

/// Why options cannot be used, as a sentence.
public struct InvalidOptions: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String

    package init(_ description: String) { self.description = description }

    /// Throws the sentence unless the condition holds.
    package static func unless(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(InvalidOptions) {
        guard condition else { throw InvalidOptions(sentence()) }
    }
}
