import GannetBase

/// Where a worker can be asked how it is.
struct ListenAddress: Sendable, Equatable {
    /// An IPv4 or IPv6 address, without brackets.
    let host: String
    let port: UInt16

    /// Whether only this machine's own programs reach it.
    var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    /// For a client on the same machine.
    var url: String { url(isTLS: false) }

    func url(isTLS: Bool) -> String {
        let near =
            switch host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "[::1]"
            default: host.contains(":") ? "[\(host)]" : host
            }
        return "\(isTLS ? "https" : "http")://\(near):\(port)"
    }
}

extension ValueType where Value == ListenAddress {
    /// `127.0.0.1:9464`, `[::1]:9464`, or `:9464` for all of the machine's IPv4 addresses.
    static var listenAddress: Self {
        Self("address") { text in
            let invalid = UsageError(
                "use an IP address and a port such as 127.0.0.1:9464 or [::]:9464, or ':9464' for all addresses; port 0 takes a free one.")
            guard let colon = text.lastIndex(of: ":"), let port = port(text[text.index(after: colon)...]) else { throw invalid }
            let host = String(text[..<colon])
            switch host {
            case "": return ListenAddress(host: "0.0.0.0", port: port)
            case "localhost": return ListenAddress(host: "127.0.0.1", port: port)
            default: break
            }
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]") && host.count > 2
            let bare = isBracketed ? String(host.dropFirst().dropLast()) : host
            var (four, six) = (in_addr(), in6_addr())
            guard isBracketed ? inet_pton(AF_INET6, bare, &six) == 1 : inet_pton(AF_INET, bare, &four) == 1 else { throw invalid }
            return ListenAddress(host: bare, port: port)
        }
    }

    private static func port(_ digits: Substring) -> UInt16? {
        guard 1...5 ~= digits.utf8.count, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt16(digits)
    }
}

/// `--listen`
enum ListenOption {
    static let address = Flag(
        "listen", .listenAddress, "Answer /healthz, /readyz and /metrics here, such as 127.0.0.1:9464; ':9464' on all addresses.")

    /// Of a command that may run beside a worker, whose address is in the environment of both.
    static let ofRun = Flag(
        "listen", .listenAddress, hasVariable: false,
        "Answer /healthz, /readyz and /metrics here, such as 127.0.0.1:9464. 'run' ignores the variable, which is for workers.")
}
