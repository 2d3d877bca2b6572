/// Turns host names into addresses on the engine's thread, without ever waiting: the thread waits for its sockets along with its own.
///
/// There is one look-up per name, however many transfers ask. Outcomes are remembered for as long as the name servers say. A name without an
/// answer costs a place among thousands, not a thread.
///
/// The loop waits for the sockets of `watch` until `deadline` at the latest, calls `act` for those that are ready, then `process`, and then
/// `takeFinished`. After `resolve` it calls `takeFinished`, too. One thread uses it all.
final class Resolver {
    typealias Instant = ContinuousClock.Instant
    typealias Change = (inout LookUp) -> [LookUp.Action]

    private let options: ResolverOptions
    private let watch: AresChannel.SocketWatch
    private(set) var running: RunningLookUps
    private(set) var cache: ResolverCache
    private var health: ResolverHealth
    private(set) var pool: NameServerPool
    /// Pools of earlier configurations, until their last query has ended.
    private var oldPools: [NameServerPool] = []
    /// The steps that look-ups take after a short wait.
    private(set) var delayed = DueQueue<(entry: RunningLookUps.Entry, change: Change)>()
    private var nextTick: Instant?
    private var hosts: HostsFile
    private var configurationFile: WatchedFile?
    private var route = IPv6Route()
    private var finished: [(id: UInt64, resolution: Resolution)] = []
    /// Whether a socket was ready since `process` was called.
    private var wasReady = false

    /// So long an unsent query waits before it is sent again, and a first answer for the second.
    static let shortWait: Duration = .milliseconds(250)
    /// The time between looks for queries whose time is over.
    static let tick: Duration = .milliseconds(100)

    init(_ options: ResolverOptions, at now: Instant = .now, watch: @escaping AresChannel.SocketWatch) throws(InvalidOptions) {
        let servers = try options.validatedServers()
        self.options = options
        self.watch = watch
        cache = ResolverCache(maximum: options.maximumCached)
        running = RunningLookUps(
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
        pool = NameServerPool(configuration, timeout: options.timeout, watch: watch)
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
            running.join(name, id: id, at: now)
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

    /// When `process` must be called at the latest; nil when there is only a socket to wait for. It has passed when there is an outcome to take.
    var deadline: Instant? {
        guard finished.isEmpty else { return .now }
        return [nextTick, running.oldest.map { $0.start + options.timeout }, delayed.first?.due, running.nextRoom]
            .compactMap { $0 }
            .min()
    }

    /// Reads from a socket that is ready, or writes to it.
    func act(on socket: Int32, reads: Bool, writes: Bool) {
        wasReady = true
        _ = ([pool] + oldPools).contains { $0.act(on: socket, reads: reads, writes: writes) }
    }

    /// Handles everything that is due.
    func process(at now: Instant = .now) {
        guard wasReady || deadline.map({ $0 <= now }) ?? false else { return }
        wasReady = false
        pump(at: now)
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
        pool = NameServerPool(configuration, timeout: options.timeout, watch: watch)
        // Names mean something else in another network, and the old servers may not be reachable from it.
        cache.removeAll()
        for entry in running.underWay { advance(entry, at: now) { $0.start() } }
    }

    // MARK: Look-ups

    /// Moves all look-ups on as far as possible without waiting.
    private func pump(at now: Instant) {
        while let oldest = running.oldest, oldest.start + options.timeout <= now { timeOut(oldest, at: now) }
        while let (entry, change) = delayed.popDue(at: now) { advance(entry, at: now, change) }
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
        delayed.skipEnded { $0.item.entry.lookUp != nil }
    }

    private func start(at now: Instant) {
        let configuration = pool.configuration
        // Each look-up has two queries at most, besides queries of look-ups that have ended before them.
        while pool.outstanding < 2 * options.maximumOutstanding,
            let entry = running.begin(
                at: now,
                { name in
                    LookUp(
                        candidates: configuration.candidates(for: name), servers: configuration.servers.count, withIPv6: wantsIPv6(at: now))
                })
        {
            advance(entry, at: now) { $0.start() }
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
            if let entry = reply.lookUp { advance(entry, at: now) { $0.receive(reply.content, to: reply.question) } }
        }
        return !replies.isEmpty
    }

    /// Changes a look-up that is under way.
    private func advance(_ entry: RunningLookUps.Entry, at now: Instant, _ change: Change) {
        guard entry.lookUp != nil else { return }
        for action in change(&entry.lookUp!) {
            switch action {
            case .ask(let question):
                if !pool.ask(question, for: entry, at: now) {
                    advance(entry, at: now) { $0.receive(.outOfMemory, to: question) }
                }
            case .resendLater: advance(entry, after: now) { $0.resend() }
            case .hurry: advance(entry, after: now) { $0.finishWithWhatIsThere() }
            case .finish(let resolution, let ttl): end(entry, resolution, ttl: ttl, at: now)
            }
        }
    }

    private func advance(_ entry: RunningLookUps.Entry, after now: Instant, _ change: @escaping Change) {
        delayed.append((item: (entry: entry, change: change), due: now + Self.shortWait), living: running.underWayCount) {
            $0.item.entry.lookUp != nil
        }
    }

    private func timeOut(_ entry: RunningLookUps.Entry, at now: Instant) {
        // Addresses of one kind are better than none.
        advance(entry, at: now) { $0.finishWithWhatIsThere() }
        if entry.lookUp != nil { end(entry, .failure(.timedOut), ttl: nil, at: now) }
    }

    private func end(_ entry: RunningLookUps.Entry, _ resolution: Resolution, ttl: UInt32?, at now: Instant) {
        var resolution = resolution
        if resolution == .failure(.timedOut) || resolution == .failure(.noNameServer) {
            resolution = .failure(blame(since: entry.start, at: now))
        }
        let lifetime = ResolverCache.lifetime(of: resolution, ttl: ttl)
        if lifetime > .zero { cache.store(resolution, for: entry.name, until: now + lifetime, at: now) }
        for id in running.end(entry) { finished.append((id, resolution)) }
    }

    /// The reason why no answer came.
    private func blame(since start: Instant, at now: Instant) -> ResolveFailure {
        if SystemLimit.lacksDescriptors { return .systemLimit }
        return health.areGone(since: start, at: now) ? .noNameServer : .timedOut
    }

    private func probe(at now: Instant) {
        guard let oldest = running.oldest, health.takeProbe(oldest: oldest.start, at: now) else { return }
        for server in pool.configuration.servers.indices {
            // Only the fact of an answer counts.
            _ = pool.ask(LookUp.Question(name: "", type: .ns, server: server, overTCP: false), for: nil, at: now)
        }
    }
}
