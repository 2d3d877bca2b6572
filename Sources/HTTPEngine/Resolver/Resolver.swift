/// Turns host names into addresses on the engine's thread, without ever waiting: the thread waits for its descriptors along with its own.
///
/// One look-up per name however many ask; outcomes are remembered for as long as the name servers say. A name that nobody answers for costs
/// a place among thousands, not a thread.
///
/// The loop's part: wait for `descriptors` until `nextDeadline` at the latest, call `process`, then `takeFinished`; the latter also after
/// `resolve`. Nothing here is kept from one thread to another.
final class Resolver {
    typealias Instant = ContinuousClock.Instant

    let options: ResolverOptions
    var running = RunningLookUps()
    var cache: ResolverCache
    var window: ResolverWindow
    var health: ResolverHealth
    var pool: NameServerPool
    /// Pools of earlier configurations, until their last query has ended.
    var oldPools: [NameServerPool] = []
    var deadlines = DueLine()
    var resends = DueLine()
    var hurries = DueLine()
    var nextTick: Instant?
    private var hosts: HostsFile
    private var configurationFile: WatchedFile?
    private var route = IPv6Route()
    private var finished: [(id: UInt64, resolution: Resolution)] = []

    /// Until then an unsent query waits, and a second answer that is late.
    static let shortWait: Duration = .milliseconds(250)
    /// How often queries are looked at whose time may be over.
    static let tick: Duration = .milliseconds(100)

    init(_ options: ResolverOptions, at now: Instant = .now) throws(InvalidOptions) {
        let servers = try options.validatedServers()
        self.options = options
        cache = ResolverCache(maximum: options.maximumCached)
        window = ResolverWindow(
            maximum: options.maximumOutstanding, maximumFresh: options.maximumFresh, freshness: options.freshness)
        health = ResolverHealth(timeout: options.timeout)
        hosts = HostsFile(options.hostsFile)
        var configuration = ResolverConfiguration()
        configuration.servers = servers
        if servers.isEmpty {
            var file = WatchedFile(options.configurationFile, interval: .seconds(3))
            configuration = ResolverConfiguration(parsing: file.change(at: now) ?? "")
            configurationFile = file
        }
        pool = NameServerPool(configuration, timeout: options.timeout)
    }

    /// The outcome when it is known at once; otherwise it comes from `takeFinished` under the id, once, unless `cancel` is faster.
    ///
    /// An id stands for one question at a time.
    func resolve(_ host: String, for id: UInt64, at now: Instant = .now) -> Resolution? {
        switch Result(catching: { () throws(ResolveFailure) in try HostName(host) }) {
        case .failure(let failure): return .failure(failure)
        case .success(.address(let address)): return .success([address])
        case .success(.loopback): return .success([.v4(0x7f00_0001), .v6(1)])
        case .success(.name(let name)):
            if let addresses = hosts.addresses(of: name.hasSuffix(".") ? String(name.dropLast()) : name, at: now) {
                return .success(addresses)
            }
            noticeConfiguration(at: now)
            if let known = cache.outcome(for: name, at: now) { return known }
            running.join(name, id: id)
            pump(at: now)
            return nil
        }
    }

    /// Nothing will come for the id. Its look-up goes on if it has begun, for those who ask next.
    func cancel(_ id: UInt64) {
        if !finished.isEmpty { finished.removeAll { $0.id == id } }
        running.leave(id)
    }

    /// What has become known since the last call.
    func takeFinished() -> [(id: UInt64, resolution: Resolution)] {
        defer { finished.removeAll(keepingCapacity: true) }
        return finished
    }

    /// The descriptors to wait for, and for what; others after every call of `resolve` and `process`.
    var descriptors: [ResolverDescriptor] { pool.descriptors + oldPools.flatMap(\.descriptors) }

    /// When `process` must be called at the latest; nil when only a descriptor can bring anything about. It is over when there is
    /// something to take.
    var nextDeadline: Instant? {
        guard finished.isEmpty else { return .now }
        return [nextTick, deadlines.nextDue, resends.nextDue, hurries.nextDue, running.isWaiting ? window.nextRoom : nil].compactMap { $0 }
            .min()
    }

    /// Handles the descriptors that are ready and whatever is due.
    func process(_ ready: [ResolverDescriptor] = [], at now: Instant = .now) {
        for descriptor in ready {
            _ = ([pool] + oldPools).contains { $0.process(descriptor) }
        }
        pump(at: now)
    }

    func finish(_ ids: [UInt64], _ resolution: Resolution) {
        for id in ids { finished.append((id, resolution)) }
    }

    /// Whether to ask for IPv6 addresses.
    func wantsIPv6(at now: Instant) -> Bool {
        switch options.ipv6 {
        case .always: true
        case .never: false
        case .automatic: route.exists(at: now)
        }
    }

    /// Goes over to other name servers when the system's have changed: a laptop has moved, a VPN has come up.
    private func noticeConfiguration(at now: Instant) {
        guard let text = configurationFile?.change(at: now) else { return }
        let configuration = ResolverConfiguration(parsing: text)
        guard configuration != pool.configuration else { return }
        oldPools.append(pool)
        pool = NameServerPool(configuration, timeout: options.timeout)
        // Names mean something else in another network, and the servers there are may not be reachable from it.
        cache.removeAll()
        for serial in running.underWay { advance(serial, at: now) { $0.start() } }
    }
}
