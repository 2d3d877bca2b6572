/// A primary, as a Sentinel names it. Each failover has a higher epoch than those before.
package struct SentinelWord: Sendable, Equatable {
    package let primary: SentinelAddress.Host
    package let epoch: Int
}

extension SentinelWord {
    /// Reads the answer to `SENTINEL MASTER`: names and values by turns.
    package init(_ reply: RedisReply) throws(RedisError) {
        let words = try reply.asArray()
        var values: [String: String] = [:]
        for index in stride(from: 0, to: words.count - 1, by: 2) { values[try words[index].asString()] = try words[index + 1].asString() }
        guard let name = values["ip"], let port = values["port"].flatMap({ Int($0) }), RedisAddress.ports.contains(port),
            let epoch = values["config-epoch"].flatMap({ Int($0) })
        else { throw RedisError(.unexpectedReply, "The Sentinel's answer is malformed.") }
        self.init(primary: SentinelAddress.Host(name: name, port: port), epoch: epoch)
    }
}

/// The questions to one Sentinel.
struct SentinelQuestion: Sendable {
    private let configuration: RedisConfiguration
    private let credentials: RedisCredentials?
    private let primary: String

    /// The channel on which a Sentinel tells of failovers.
    static let channel = "+switch-master"

    /// The bound on connecting, and on each answer.
    private static let patience = Duration.seconds(2)

    init(_ sentinel: SentinelAddress.Host, _ address: SentinelAddress, _ configuration: RedisConfiguration) {
        var asking = configuration
        asking.address = .tcp(host: sentinel.name, port: sentinel.port, tls: address.tls)
        (asking.database, asking.asksSentinel, asking.credentials) = (0, true, nil)
        (asking.connectTimeout, asking.commandTimeout) = (Self.patience, Self.patience)
        self.configuration = asking
        credentials = configuration.credentials
        primary = address.primary
    }

    /// Asks which server is the primary.
    /// - Returns: `nil` where the Sentinel does not know the primary's name.
    func ask() async throws(RedisError) -> SentinelWord? {
        try await withPasswordIfNeeded { configuration throws(RedisError) in
            let connection = try await NodeConnection.connect(configuration)
            defer { connection.beginClosing() }
            // The subscription ends with the connection. It shows here that the user lacks the right to one: later nobody would be told.
            let replies = await connection.pipeline([
                RedisCommand("SENTINEL", "MASTER", .string(primary)), RedisCommand("SUBSCRIBE", .string(Self.channel)),
            ])
            do throws(RedisError) {
                let word = try SentinelWord(try replies[0].get())
                _ = try replies[1].get()
                return word
            } catch {
                guard error.kind == .other, error.detail.contains("No such master") else { throw error }
                return nil
            }
        }
    }

    /// A connection for subscriptions to the Sentinel.
    func subscriber() async throws(RedisError) -> NodeSubscriber {
        try await withPasswordIfNeeded { configuration throws(RedisError) in try await NodeSubscriber.connect(configuration) }
    }

    /// Whether an event of ``channel`` may be about this primary.
    func isConcerned(by event: RedisSubscription.Event) -> Bool {
        switch event {
        case .message(_, let payload): payload.starts(with: Array("\(primary) ".utf8))
        case .interrupted: true
        }
    }

    /// Most Sentinels have no password, and refuse one.
    private func withPasswordIfNeeded<Answer>(
        _ call: (RedisConfiguration) async throws(RedisError) -> Answer
    ) async throws(RedisError) -> Answer {
        do throws(RedisError) {
            return try await call(configuration)
        } catch {
            guard error.kind == .authenticationRequired, let credentials else { throw error }
            var asking = configuration
            asking.credentials = credentials
            return try await call(asking)
        }
    }
}
