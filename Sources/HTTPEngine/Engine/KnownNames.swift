/// What libcurl has been told of host names, so that it neither looks up any nor remembers one for longer than it is needed.
///
/// libcurl walks through all it remembers at the end of each transfer, so that must stay little.
struct KnownNames {
    private struct Key: Hashable {
        let host: String
        let port: Int
    }

    private var users: [Key: Int] = [:]
    /// Nobody's any more, to be forgotten with the next transfer that begins.
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
