/// What `/etc/resolv.conf` says.
struct ResolverConfiguration: Hashable {
    var servers: [NameServer] = []
    /// Domains that a short name may belong to.
    var search: [String] = []
    /// From how many dots on a name is whole.
    var ndots = 1
    /// What the file says about the first wait for an answer and the number of rounds, if anything.
    var wait: Duration?
    var rounds: Int?

    static let maximumServers = 8
    static let maximumSearch = 6

    init() {}

    /// Reads the file's text. What is not understood is skipped, as the C library does; without servers there is one on this machine.
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
    /// A name with a dot is asked as it stands first. Only where the file asks for more dots than it has (as in Kubernetes) is it tried in
    /// the search list after that: a dead host in a list of URLs must not turn into some host of the own network.
    func candidates(for name: String) -> [String] {
        if name.hasSuffix(".") { return [String(name.dropLast())] }
        let dots = name.utf8.count { $0 == UInt8(ascii: ".") }
        guard dots < ndots else { return [name] }
        let longer = search.map { "\(name).\($0)" }.filter { $0.utf8.count <= 253 }
        return dots == 0 ? longer + [name] : [name] + longer
    }

    /// How c-ares is to wait so that all rounds at all servers fit into a look-up's time: the first wait, and how many rounds of which each
    /// waits twice as long as the one before.
    func schedule(timeout: Duration) -> (wait: Duration, rounds: Int) {
        let rounds = rounds ?? 3
        let share = timeout / (servers.count * ((1 << rounds) - 1))
        return (max(.milliseconds(20), wait.map { min($0, max(share, timeout / 2)) } ?? share), rounds)
    }
}
