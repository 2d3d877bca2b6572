/// How host names become addresses.
package struct ResolverOptions: Sendable {
    /// Whether IPv6 addresses are asked for, which doubles the queries.
    package enum IPv6: Sendable, Hashable {
        /// Where the machine has a route to the IPv6 internet.
        case automatic
        case always, never
    }

    /// Name servers to ask instead of the system's, each `ADDR`, `ADDR:PORT` or `[ADDR]:PORT`.
    package var servers: [String] = []
    /// How long one name may take, with all its retransmissions and servers.
    package var timeout: Duration = .seconds(10)
    /// How many look-ups may be under way; more wait in the order they came. Most of them are names nobody answers for.
    package var maximumOutstanding = 16_384
    /// How many of these may be younger than `freshness`: what the name servers are given to do at a time.
    package var maximumFresh = 512
    /// A look-up this old gives its place among the fresh to the next, so that names nobody answers for do not hold up the others.
    package var freshness: Duration = .milliseconds(100)
    /// How many names are remembered with their outcome.
    package var maximumCached = 50_000
    package var ipv6 = IPv6.automatic
    package var hostsFile = "/etc/hosts"
    /// Where the system's name servers are found when `servers` is empty.
    package var configurationFile = "/etc/resolv.conf"

    package init() {}

    /// The most addresses that are used of one name.
    static let maximumAddresses = 16
}
