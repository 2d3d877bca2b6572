import CAres
internal import GannetBase

/// How host names become addresses.
package struct ResolverOptions: Sendable {
    /// Whether to ask for IPv6 addresses, which doubles the queries.
    package enum IPv6: Sendable, Hashable {
        /// Where the machine has a route to the IPv6 internet.
        case automatic
        case always, never
    }

    /// Name servers to ask instead of the system's, each `ADDR`, `ADDR:PORT` or `[ADDR]:PORT`.
    package var servers: [String] = []
    /// How long one name may take, with all its retransmissions and servers.
    package var timeout: Duration = .seconds(10)
    /// How many look-ups may be under way. More wait in the order they came. Most of a full set are names without an answer.
    package var maximumOutstanding = 16_384
    /// How many of them may be younger than `freshness`. This bounds the load on the name servers.
    package var maximumFresh = 512
    /// A look-up this old is no longer fresh and makes room for the next, so that names without an answer do not hold up the others.
    package var freshness: Duration = .milliseconds(100)
    /// How many names are remembered with their outcome.
    package var maximumCached = 50_000
    package var ipv6 = IPv6.automatic
    package var hostsFile = "/etc/hosts"
    /// The file that names the system's name servers, read when `servers` is empty.
    package var configurationFile = "/etc/resolv.conf"

    package init() {}

    /// The most addresses that are used of one name.
    static let maximumAddresses = 16
}

extension ResolverOptions {
    /// Checks the options, and reads the servers.
    func validatedServers() throws(InvalidOptions) -> [NameServer] {
        try InvalidOptions.unless(
            timeout >= .milliseconds(50) && timeout <= .seconds(300), "The time for a look-up must be from 50 milliseconds to 5 minutes.")
        try InvalidOptions.unless(
            freshness >= .milliseconds(1) && freshness <= timeout,
            "A look-up must be fresh for at least 1 millisecond and no longer than it may take.")
        try InvalidOptions.unless(
            (1...30_000).contains(maximumOutstanding) && 1 <= maximumFresh && maximumFresh <= maximumOutstanding,
            "The look-ups under way must be from 1 to 30000, and the fresh ones no more than that.")
        try InvalidOptions.unless((1...10_000_000).contains(maximumCached), "The names to remember must be from 1 to 10000000.")
        try InvalidOptions.unless(servers.count <= 8, "There may be no more than 8 name servers.")
        return try servers.map { text throws(InvalidOptions) in
            guard let server = NameServer(text) else {
                throw InvalidOptions(
                    "'\(text.escapedForDisplay)' is not a name server: write ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT.")
            }
            return server
        }
    }
}

/// Whether this machine has a route to the IPv6 internet. It looks again now and then: a laptop gains and loses it.
struct IPv6Route {
    private let interval: Duration = .seconds(30)
    private var nextLook: ContinuousClock.Instant?
    private var exists = false

    mutating func exists(at now: ContinuousClock.Instant) -> Bool {
        if let nextLook, now < nextLook { return exists }
        nextLook = now + interval
        // Without a descriptor to look with, the last answer holds.
        exists = Self.look() ?? exists
        return exists
    }

    /// Connecting a datagram socket sends nothing: it only asks the kernel for a route.
    private static func look() -> Bool? {
        let descriptor = gannet_datagram_socket(AF_INET6)
        guard descriptor >= 0 else { return SystemLimit.isShortage(errno) ? nil : false }
        defer { close(descriptor) }
        // A root name server (a.root-servers.net): as global as an address can be.
        guard let target = SocketAddress("2001:503:ba3e::2:30", port: 53), target.withPointer({ connect(descriptor, $0, $1) }) == 0,
            let source = IPAddress.end(of: descriptor, getsockname)?.address
        else { return false }
        // A source that is itself local leads nowhere.
        return SpecialNetworks.globalUnicast.contains(source)
    }
}
