/// The resolver as the loop sees it: its descriptors are watched by the loop's poller.
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

    /// The outcome when it is known at once; otherwise `takeFinished` brings it. For an address there is nothing to look up, and nothing to tell libcurl.
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
    /// - Parameter isRedirect: Whether an answer chose the name, and not the caller.
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

/// The host names whose addresses libcurl knows, so that it looks up none and forgets each when no transfer needs it.
///
/// libcurl walks through all names it knows at the end of each transfer, so they must stay few.
struct KnownNames {
    private struct Key: Hashable {
        let host: String
        let port: Int
    }

    private var users: [Key: Int] = [:]
    /// Names that no transfer needs. libcurl is told to forget them with the next transfer that begins.
    private var obsolete: Set<Key> = []

    /// The lines of libcurl's notation for a transfer that begins.
    mutating func begin(_ host: String, _ port: Int, _ addresses: [IPAddress]) -> [String] {
        let key = Key(host: host, port: port)
        users[key, default: 0] += 1
        obsolete.remove(key)
        let list = addresses.map { $0.bitCount == 128 ? "[\($0)]" : "\($0)" }.joined(separator: ",")
        return forget() + ["+\(host):\(port):\(list)"]
    }

    mutating func end(_ host: String, _ port: Int) {
        let key = Key(host: host, port: port)
        guard let count = users[key] else { return }
        users[key] = count > 1 ? count - 1 : nil
        if count == 1 { obsolete.insert(key) }
    }

    /// The lines for a transfer that needs no name.
    mutating func forget() -> [String] {
        if obsolete.isEmpty { return [] }
        defer { obsolete = [] }
        return obsolete.map { "-\($0.host):\($0.port)" }
    }
}
