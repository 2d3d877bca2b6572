/// The content of `/etc/resolv.conf`.
struct ResolverConfiguration: Hashable {
    var servers: [NameServer] = []
    /// Domains that a short name may belong to.
    var search: [String] = []
    /// A name with this many dots is complete.
    var ndots = 1
    /// The first wait for an answer, and the number of rounds, if the file has them.
    var wait: Duration?
    var rounds: Int?

    static let maximumServers = 8
    static let maximumSearch = 6

    init() {}

    /// Reads the file's text. Unknown words are skipped, as the C library does. Without servers there is one on this machine.
    init(parsing text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" && $0 != ";" }.split(whereSeparator: \.isWhitespace)
            guard let keyword = words.first else { continue }
            switch keyword {
            case "nameserver":
                // A link-local server's zone cannot be given to every c-ares.
                if words.count > 1, let server = NameServer(String(words[1])), servers.count < Self.maximumServers {
                    servers.append(server)
                }
            case "search", "domain":
                // The last one counts.
                search = words.dropFirst().prefix(keyword == "domain" ? 1 : Self.maximumSearch).compactMap { word in
                    if case .name(let name)? = try? HostName(String(word)) {
                        name.hasSuffix(".") ? String(name.dropLast()) : name
                    } else {
                        nil
                    }
                }
            case "options":
                for option in words.dropFirst() { read(option: option) }
            default: break
            }
        }
        if servers.isEmpty { servers = [NameServer(address: .v4(0x7f00_0001))] }
    }

    private mutating func read(option: Substring) {
        let parts = option.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let number = Int(parts[1]), number >= 0 else { return }
        switch parts[0] {
        case "ndots": ndots = min(number, 15)
        case "timeout": wait = .seconds(min(max(number, 1), 30))
        case "attempts": rounds = min(max(number, 1), 5)
        default: break
        }
    }

    /// The full names to ask for, in this order.
    ///
    /// A name with a dot is asked for as it stands first. The search list is for names with fewer dots than
    /// the file asks for, as in Kubernetes. A dead host in a list of URLs must not become a host of the own network.
    func candidates(for name: String) -> [String] {
        if name.hasSuffix(".") { return [String(name.dropLast())] }
        let dots = name.utf8.count { $0 == UInt8(ascii: ".") }
        guard dots < ndots else { return [name] }
        let longer = search.map { "\(name).\($0)" }.filter { $0.utf8.count <= 253 }
        return dots == 0 ? longer + [name] : [name] + longer
    }

    /// The first wait of c-ares, and its number of rounds, so that all rounds at all servers fit into a look-up's time. Each round waits twice as
    /// long as the one before.
    func schedule(timeout: Duration) -> (wait: Duration, rounds: Int) {
        let rounds = rounds ?? 3
        let share = timeout / (servers.count * ((1 << rounds) - 1))
        return (max(.milliseconds(20), wait.map { min($0, max(share, timeout / 2)) } ?? share), rounds)
    }
}

/// The address of a name server, for UDP and TCP.
struct NameServer: Sendable, Hashable {
    let address: IPAddress
    let port: UInt16

    init(address: IPAddress, port: UInt16 = 53) {
        self.address = address
        self.port = port
    }

    /// Reads `ADDRESS`, `ADDRESS:PORT` or `[ADDRESS]:PORT`.
    init?(_ text: String) {
        if let address = IPAddress(text) ?? Self.bracketed(text[...]) {
            self.init(address: address)
            return
        }
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let digits = text[colon...].dropFirst()
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = UInt16(digits), port > 0,
            let address = Self.bracketed(text[..<colon]) ?? IPAddress(text[..<colon]).flatMap({ $0.bitCount == 32 ? $0 : nil })
        else { return nil }
        self.init(address: address, port: port)
    }

    /// As c-ares and people write it.
    var text: String {
        switch address {
        case .v4: "\(address):\(port)"
        case .v6: "[\(address)]:\(port)"
        }
    }

    private static func bracketed(_ text: Substring) -> IPAddress? {
        guard text.hasPrefix("["), text.hasSuffix("]") else { return nil }
        return IPAddress(text.dropFirst().dropLast()).flatMap { $0.bitCount == 128 ? $0 : nil }
    }
}
