/// What `/etc/hosts` says: read once, and again when it has changed.
struct HostsFile {
    private var file: WatchedFile
    private var addresses: [String: [IPAddress]] = [:]

    init(_ path: String) {
        file = WatchedFile(path, interval: .seconds(1))
    }

    /// The addresses of a name in lower case without a dot at its end, if the file has it.
    mutating func addresses(of name: String, at now: ContinuousClock.Instant) -> [IPAddress]? {
        if let text = file.change(at: now) { addresses = Self.parse(text) }
        return addresses[name]
    }

    private static func parse(_ text: String) -> [String: [IPAddress]] {
        var result: [String: [IPAddress]] = [:]
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
            guard words.count > 1, let address = IPAddress(Substring(words[0])) else { continue }
            for word in words.dropFirst() {
                let name = String(Substring(word)).lowercased()
                if result[name, default: []].count < ResolverOptions.maximumAddresses, result[name]?.contains(address) != true {
                    result[name, default: []].append(address)
                }
            }
        }
        return result
    }
}
