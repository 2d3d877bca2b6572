internal import GannetBase

/// A lookup of the addresses of a server, apart from the connection's thread. It signals the connection's wake-up at its end.
protocol ServerLookup: AnyObject {
    /// `nil` until the lookup has ended.
    func result() -> Result<FoundServer, RedisError>?
}

/// A server to connect to: its host's name, and the addresses of that name.
struct FoundServer: Sendable {
    let name: String
    let endpoints: [SocketAddress]
    /// The primary that it is by the Sentinels' word, where they were asked.
    var primary: SentinelAddress.Host?
}

/// A lookup of a host name on its own thread, because the system's resolver may block for longer than a connection's timeouts.
final class AddressLookup: ServerLookup, Sendable {
    private let outcome = Mutex<Result<FoundServer, RedisError>?>(nil)

    /// Starts the lookup. `wakeup` is signalled at its end.
    init(host: String, port: Int, wakeup: Wakeup) {
        OwnedThread.start(name: "redis-lookup") { [self] in
            let found = Self.resolve(host: host, port: port)
            outcome.withLock { $0 = found.map { FoundServer(name: host, endpoints: $0) } }
            wakeup.signal()
        }
    }

    func result() -> Result<FoundServer, RedisError>? {
        outcome.withLock { $0 }
    }

    /// The endpoint of a numeric address; `nil` for a name.
    static func numeric(host: String, port: Int) -> [SocketAddress]? {
        try? resolve(host: host, port: port, flags: AI_NUMERICHOST).get()
    }

    /// Waits for the system's resolver.
    static func resolve(host: String, port: Int, flags: Int32 = AI_ADDRCONFIG) -> Result<[SocketAddress], RedisError> {
        var hints = addrinfo()
        hints.ai_flags = flags | AI_NUMERICSERV
        hints.ai_socktype = SocketAddress.stream
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            return .failure(RedisError(.unresolvable, String(cString: gai_strerror(code))))
        }
        defer { freeaddrinfo(list) }
        var endpoints: [SocketAddress] = []
        var next = list
        while let entry = next, endpoints.count < maximumEndpoints {
            let address = UnsafeRawBufferPointer(start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
            endpoints.append(SocketAddress(family: entry.pointee.ai_family, bytes: address))
            next = entry.pointee.ai_next
        }
        return .success(endpoints)
    }

    /// Not more addresses can be tried within a connect timeout.
    private static let maximumEndpoints = 16
}
