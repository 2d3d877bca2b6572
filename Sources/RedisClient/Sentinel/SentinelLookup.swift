internal import GannetBasics

/// Asks Sentinels for the primary's address. All Sentinels are asked at once, because some may be away. The first address counts.
///
/// A Sentinel that has not heard of a failover yet names the old primary. Its greeting shows that, or the next attempt to connect.
final class SentinelLookup: ServerLookup, Sendable {
    private let outcome = Mutex<Result<FoundServer, RedisError>?>(nil)

    /// The bound on the question to one Sentinel, connecting included.
    private static let patience = Duration.seconds(2)

    init(_ address: SentinelAddress, _ configuration: RedisConfiguration, wakeup: Wakeup) {
        Task {
            let found = await Self.find(address, configuration)
            outcome.withLock { $0 = found }
            wakeup.signal()
        }
    }

    func result() -> Result<FoundServer, RedisError>? { outcome.withLock { $0 } }

    private static func find(_ address: SentinelAddress, _ configuration: RedisConfiguration) async -> Result<FoundServer, RedisError> {
        let answers = await withTaskGroup(of: Result<SentinelAddress.Host?, RedisError>.self) { group in
            for sentinel in address.sentinels { group.addTask { await ask(sentinel, address, configuration) } }
            var answers: [Result<SentinelAddress.Host?, RedisError>] = []
            for await answer in group {
                answers.append(answer)
                if case .success(.some) = answer { group.cancelAll() }
            }
            return answers
        }
        if let primary = answers.lazy.compactMap({ try? $0.get() }).first { return await addresses(of: primary) }
        for case .success(nil) in answers {
            return .failure(RedisError(.unresolvable, "the Sentinels know no primary of the name '\(address.primary)'"))
        }
        for case .failure(let error) in answers { return .failure(RedisError(error.kind, "no Sentinel answers: \(error.description)")) }
        return .failure(RedisError(.unresolvable, "the address names no Sentinel"))
    }

    /// - Returns: `nil` where the Sentinel does not know the primary.
    private static func ask(
        _ sentinel: SentinelAddress.Host, _ address: SentinelAddress, _ configuration: RedisConfiguration
    ) async -> Result<SentinelAddress.Host?, RedisError> {
        var asking = configuration
        asking.address = .tcp(host: sentinel.name, port: sentinel.port, tls: address.tls)
        (asking.database, asking.asksSentinel, asking.connectTimeout, asking.commandTimeout) = (0, true, patience, patience)
        // Most Sentinels have no password, and refuse one.
        asking.credentials = nil
        let open = await ask(asking, for: address.primary)
        guard case .failure(let error) = open, error.kind == .authenticationRequired, configuration.credentials != nil else { return open }
        asking.credentials = configuration.credentials
        return await ask(asking, for: address.primary)
    }

    private static func ask(_ configuration: RedisConfiguration, for primary: String) async -> Result<SentinelAddress.Host?, RedisError> {
        do throws(RedisError) {
            let connection = try await NodeConnection.connect(configuration)
            defer { connection.beginClosing() }
            let reply = try await connection.send(RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .string(primary)))
            if case .null = reply { return .success(nil) }
            let words = try reply.asArray()
            guard words.count == 2, let port = Int(try words[1].asString()) else {
                return .failure(RedisError(.unexpectedReply, "The Sentinel's answer is malformed."))
            }
            return .success(SentinelAddress.Host(name: try words[0].asString(), port: port))
        } catch {
            return .failure(error)
        }
    }

    private static func addresses(of primary: SentinelAddress.Host) async -> Result<FoundServer, RedisError> {
        // The system's resolver blocks, so the question has a thread of its own.
        let found = OneShot<Result<[SocketAddress], RedisError>>()
        OwnedThread.start(name: "redis-lookup") { found.fire(AddressLookup.resolve(host: primary.name, port: primary.port)) }
        return await found.value.map { FoundServer(name: primary.name, endpoints: $0) }
    }
}
