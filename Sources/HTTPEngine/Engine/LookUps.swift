/// The resolver as the loop sees it: its descriptors among those of the poller, its outcomes in the engine's words.
final class LookUps {
    private let resolver: Resolver
    private let poller: Poller
    private var watched: Set<Int32> = []
    private var ready: [ResolverDescriptor] = []
    private var isChanged = false

    init(_ options: ResolverOptions, _ poller: Poller) throws(InvalidOptions) {
        resolver = try Resolver(options)
        self.poller = poller
    }

    /// When `actOnTime` must be called at the latest.
    var deadline: ContinuousClock.Instant? { resolver.nextDeadline }

    /// The outcome when it is known at once, else it comes from `takeFinished`. An address is its own, and libcurl needs to be told nothing of it.
    func resolve(_ host: String, for id: UInt64) -> Resolution? {
        if host.hasPrefix("[") || IPAddress(host) != nil { return .success([]) }
        isChanged = true
        return resolver.resolve(host, for: id)
    }

    func cancel(_ id: UInt64) { resolver.cancel(id) }

    func takeFinished() -> [(id: UInt64, resolution: Resolution)] { resolver.takeFinished() }

    func act(on event: Poller.Event) {
        ready.append(
            ResolverDescriptor(number: event.descriptor, reads: event.isReadable || event.hasFailed, writes: event.isWritable))
    }

    func actOnTime() {
        guard !ready.isEmpty || deadline.map({ $0 <= .now }) ?? false else { return }
        resolver.process(ready)
        ready.removeAll(keepingCapacity: true)
        isChanged = true
    }

    /// To be called before the thread waits.
    func watch() {
        guard isChanged else { return }
        isChanged = false
        var now: Set<Int32> = []
        for descriptor in resolver.descriptors {
            now.insert(descriptor.number)
            poller.watch(descriptor.number, .resolver, reads: descriptor.reads, writes: descriptor.writes)
        }
        for gone in watched.subtracting(now) { poller.unwatch(gone, .resolver) }
        watched = now
    }
}

extension ResolveFailure {
    /// - Parameter isRedirect: Whether somebody else chose the name.
    func kind(isRedirect: Bool) -> FetchError.Kind {
        switch self {
        case .noSuchName, .onion: .dns(.noSuchName)
        case .noAddress: .dns(.noAddress)
        case .serverFailed: .dns(.serverFailed)
        case .timedOut: .timeout(.resolve)
        case .noNameServer: .dns(.nobodyAnswers)
        case .systemLimit: .systemLimit
        case .badName: isRedirect ? .refusedRedirect : .invalidURL
        }
    }
}
