/// Turns host names into addresses on the engine's thread, without ever waiting: the thread waits for its descriptors along with its own.
///
/// There is one look-up per name, however many transfers ask. Outcomes are remembered for as long as the name servers say. A name without an
/// answer costs a place among thousands, not a thread.
///
/// The loop waits for `descriptors` until `nextDeadline` at the latest, calls `process`, and then `takeFinished`. After `resolve` it calls
/// `takeFinished`, too. One thread uses it all.
final class Resolver {
    typealias Instant = ContinuousClock.Instant

    private let options: ResolverOptions
    private(set) var running = RunningLookUps()
    private(set) var cache: ResolverCache
    private(set) var window: ResolverWindow
    private var health: ResolverHealth
    private(set) var pool: NameServerPool
    /// Pools of earlier configurations, until their last query has ended.
    private(set) var oldPools: [NameServerPool] = []
    private var deadlines = DueQueue()
    private(set) var resends = DueQueue()
    private var hurries = DueQueue()
    private var nextTick: Instant?
    private var hosts: HostsFile
    private var configurationFile: WatchedFile?
    private var route = IPv6Route()
    private var finished: [(id: UInt64, resolution: Resolution)] = []

    /// So long an unsent query waits before it is sent again, and a first answer for the second.
    static let shortWait: Duration = .milliseconds(250)
    /// The time between looks for queries whose time is over.
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

    /// The outcome when it is known at once. Otherwise `takeFinished` brings it under the id, once, unless `cancel` is faster.
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

    /// From now on there is no outcome for the id. Its look-up goes on if it has begun: its outcome is remembered.
    func cancel(_ id: UInt64) {
        if !finished.isEmpty { finished.removeAll { $0.id == id } }
        running.leave(id)
    }

    /// The outcomes since the last call.
    func takeFinished() -> [(id: UInt64, resolution: Resolution)] {
        defer { finished.removeAll(keepingCapacity: true) }
        return finished
    }

    /// The descriptors to wait for. They change with every call of `resolve` and `process`.
    var descriptors: [ResolverDescriptor] { pool.descriptors + oldPools.flatMap(\.descriptors) }

    /// When `process` must be called at the latest; nil when there is only a descriptor to wait for. It has passed when there is an outcome to
    /// take.
    var nextDeadline: Instant? {
        guard finished.isEmpty else { return .now }
        return [nextTick, deadlines.first?.due, resends.first?.due, hurries.first?.due, running.isWaiting ? window.nextRoom : nil]
            .compactMap { $0 }
            .min()
    }

    /// Handles ready descriptors, and everything that is due.
    func process(_ ready: [ResolverDescriptor] = [], at now: Instant = .now) {
        for descriptor in ready {
            _ = ([pool] + oldPools).contains { $0.process(descriptor) }
        }
        pump(at: now)
    }

    private func finish(_ ids: [UInt64], _ resolution: Resolution) {
        for id in ids { finished.append((id, resolution)) }
    }

    /// Whether to ask for IPv6 addresses.
    private func wantsIPv6(at now: Instant) -> Bool {
        switch options.ipv6 {
        case .always: true
        case .never: false
        case .automatic: route.exists(at: now)
        }
    }

    /// Turns to other name servers when the system's have changed: a laptop has moved, a VPN has started.
    private func noticeConfiguration(at now: Instant) {
        guard let text = configurationFile?.change(at: now) else { return }
        let configuration = ResolverConfiguration(parsing: text)
        guard configuration != pool.configuration else { return }
        oldPools.append(pool)
        pool = NameServerPool(configuration, timeout: options.timeout)
        // Names mean something else in another network, and the old servers may not be reachable from it.
        cache.removeAll()
        for serial in running.underWay { advance(serial, at: now) { $0.start() } }
    }

    // MARK: Look-ups

    /// Moves all look-ups on as far as possible without waiting.
    private func pump(at now: Instant) {
        while let serial = deadlines.popDue(at: now) { timeOut(serial, at: now) }
        while let serial = resends.popDue(at: now) { advance(serial, at: now) { $0.resend() } }
        while let serial = hurries.popDue(at: now) { advance(serial, at: now) { $0.finishWithWhatIsThere() } }
        if let due = nextTick, due <= now {
            for pool in [pool] + oldPools { pool.tick() }
            probe(at: now)
            nextTick = now + Self.tick
        }
        // A query may end in the call that sends it, and its end may send or start others.
        repeat { start(at: now) } while handleReplies(at: now)
        oldPools.removeAll { $0.outstanding == 0 }
        let isBusy = pool.outstanding > 0 || !oldPools.isEmpty
        nextTick = isBusy ? nextTick ?? now + Self.tick : nil
        deadlines.skipEnded { running.isUnderWay($0.serial) }
        resends.skipEnded { running.isUnderWay($0.serial) }
        hurries.skipEnded { running.isUnderWay($0.serial) }
    }

    private func start(at now: Instant) {
        // Each look-up has two queries at most, besides queries of look-ups that have ended before them.
        while running.isWaiting, window.hasRoom(at: now), pool.outstanding < 2 * options.maximumOutstanding,
            let (serial, name) = running.nextWaiting()
        {
            let lookUp = LookUp(
                candidates: pool.configuration.candidates(for: name), servers: pool.configuration.servers.count,
                withIPv6: wantsIPv6(at: now))
            running.start(serial, lookUp, at: now)
            window.start(serial, at: now)
            deadlines.append((serial, now + options.timeout), living: window.count) { running.isUnderWay($0.serial) }
            advance(serial, at: now) { $0.start() }
        }
    }

    /// True when there were some.
    private func handleReplies(at now: Instant) -> Bool {
        let replies = ([pool] + oldPools).flatMap { $0.takeReplies() }
        for reply in replies {
            switch reply.content {
            case .silence, .unreachable, .outOfMemory: break
            default: health.answered(at: now)
            }
            advance(reply.serial, at: now) { $0.receive(reply.content, to: reply.question) }
        }
        return !replies.isEmpty
    }

    private func advance(_ serial: UInt64, at now: Instant, _ change: (inout LookUp) -> [LookUp.Action]) {
        for action in running.update(serial, change) ?? [] {
            switch action {
            case .ask(let question):
                if !pool.ask(question, for: serial, at: now) {
                    advance(serial, at: now) { $0.receive(.outOfMemory, to: question) }
                }
            case .resendLater:
                resends.append((serial, now + Self.shortWait), living: window.count) { running.isUnderWay($0.serial) }
            case .hurry:
                hurries.append((serial, now + Self.shortWait), living: window.count) { running.isUnderWay($0.serial) }
            case .finish(let resolution, let ttl):
                end(serial, resolution, ttl: ttl, at: now)
            }
        }
    }

    private func timeOut(_ serial: UInt64, at now: Instant) {
        guard running.isUnderWay(serial) else { return }
        // Addresses of one kind are better than none.
        advance(serial, at: now) { $0.finishWithWhatIsThere() }
        if running.isUnderWay(serial) { end(serial, .failure(.timedOut), ttl: nil, at: now) }
    }

    private func end(_ serial: UInt64, _ resolution: Resolution, ttl: UInt32?, at now: Instant) {
        guard let ended = running.end(serial) else { return }
        window.end(serial)
        var resolution = resolution
        if resolution == .failure(.timedOut) || resolution == .failure(.noNameServer) {
            resolution = .failure(blame(since: ended.start, at: now))
        }
        let lifetime = ResolverCache.lifetime(of: resolution, ttl: ttl)
        if lifetime > .zero { cache.store(resolution, for: ended.name, until: now + lifetime, at: now) }
        finish(ended.ids, resolution)
    }

    /// The reason why no answer came.
    private func blame(since start: Instant, at now: Instant) -> ResolveFailure {
        if SystemLimit.lacksDescriptors { return .systemLimit }
        return health.areGone(since: start, at: now) ? .noNameServer : .timedOut
    }

    private func probe(at now: Instant) {
        guard let oldest = running.oldestStart(), health.takeProbe(oldest: oldest, at: now) else { return }
        for server in pool.configuration.servers.indices {
            // Only the fact of an answer counts. The serial 0 is no look-up's.
            _ = pool.ask(LookUp.Question(name: "", type: .ns, server: server, overTCP: false), for: 0, at: now)
        }
    }
}
