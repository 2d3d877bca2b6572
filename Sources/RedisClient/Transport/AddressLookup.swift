internal import GannetBasics

/// A lookup of a host name on its own thread, because the system's resolver may block for longer than a connection's timeouts.
final class AddressLookup: Sendable {
    private let outcome = Mutex<Result<[SocketAddress], RedisError>?>(nil)

    /// Starts the lookup. `wakeup` is signalled at its end.
    init(host: String, port: Int, wakeup: Wakeup) {
        OwnedThread.start(name: "redis-lookup") { [self] in
            let found = Self.resolve(host: host, port: port, flags: AI_ADDRCONFIG)
            outcome.withLock { $0 = found }
            wakeup.signal()
        }
    }

    func result() -> Result<[SocketAddress], RedisError>? {
        outcome.withLock { $0 }
    }

    /// The endpoint of a numeric address; `nil` for a name.
    static func numeric(host: String, port: Int) -> [SocketAddress]? {
        try? resolve(host: host, port: port, flags: AI_NUMERICHOST).get()
    }

    private static func resolve(host: String, port: Int, flags: Int32) -> Result<[SocketAddress], RedisError> {
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
