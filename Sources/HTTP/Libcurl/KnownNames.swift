/// A server by its name, or its address, and its port.
struct HostPort: Hashable {
    let host: String
    let port: Int
}

/// The host names whose addresses libcurl knows, so that it looks up none and forgets each when no transfer needs it.
///
/// libcurl walks through all names it knows at the end of each transfer, so they must stay few.
struct KnownNames {
    private var users: [HostPort: Int] = [:]
    /// Names that no transfer needs. libcurl is told to forget them with the next transfer that begins.
    private var obsolete: Set<HostPort> = []

    /// The lines of libcurl's notation for a transfer that begins.
    mutating func begin(_ name: HostPort, _ addresses: [IPAddress]) -> [String] {
        users[name, default: 0] += 1
        obsolete.remove(name)
        let list = addresses.map { $0.bitCount == 128 ? "[\($0)]" : "\($0)" }.joined(separator: ",")
        return forget() + ["+\(name.host):\(name.port):\(list)"]
    }

    mutating func end(_ name: HostPort) {
        guard let count = users[name] else { return }
        users[name] = count > 1 ? count - 1 : nil
        if count == 1 { obsolete.insert(name) }
    }

    /// The lines for a transfer that needs no name.
    mutating func forget() -> [String] {
        if obsolete.isEmpty { return [] }
        defer { obsolete = [] }
        return obsolete.map { "-\($0.host):\($0.port)" }
    }
}
