internal import GannetBase

/// A look-up of the primary that Sentinels name.
///
/// A Sentinel that has not heard of a failover yet names the old primary. Its greeting shows that, or the next attempt to connect, or the watch.
final class SentinelLookup: ServerLookup, Sendable {
    private let outcome = Mutex<Result<FoundServer, RedisError>?>(nil)

    init(_ watch: SentinelWatch, wakeup: Wakeup) {
        Task {
            let found: Result<FoundServer, RedisError> =
                switch await watch.ask() {
                case .success(let primary): await Self.addresses(of: primary)
                case .failure(let error): .failure(error)
                }
            outcome.withLock { $0 = found }
            wakeup.signal()
        }
    }

    func result() -> Result<FoundServer, RedisError>? { outcome.withLock { $0 } }

    private static func addresses(of primary: SentinelAddress.Host) async -> Result<FoundServer, RedisError> {
        // The system's resolver blocks, so the question has a thread of its own.
        let found = OneShot<Result<[SocketAddress], RedisError>>()
        OwnedThread.start(name: "redis-lookup") { found.fire(AddressLookup.resolve(host: primary.name, port: primary.port)) }
        return await found.value.map { FoundServer(name: primary.name, endpoints: $0, primary: primary) }
    }
}
