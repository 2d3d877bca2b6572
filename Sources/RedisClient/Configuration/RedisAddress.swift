/// Where a Redis server listens.
package enum RedisAddress: Sendable, Hashable {
    /// A host name or address and a port, in the clear or through TLS.
    case tcp(host: String, port: Int, tls: Bool)
    /// A Unix domain socket.
    case unix(path: String)
}

extension RedisAddress: CustomStringConvertible {
    /// The address as a URL without credentials: what errors and logs may show.
    package var description: String {
        switch self {
        case .tcp(let host, let port, let tls):
            let shown = host.contains(":") ? "[\(host)]" : host
            return "\(tls ? "rediss" : "redis")://\(shown):\(port)"
        case .unix(let path):
            return "unix://\(path)"
        }
    }
}
