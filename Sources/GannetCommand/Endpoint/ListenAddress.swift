import GannetBase
import GannetHTTP

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

extension ListenAddress {
    /// Asks a worker or a gateway on this machine how it is.
    /// - Returns: The status of its answer.
    func status(of path: String, within time: Duration) async throws(CommandFailure) -> Int {
        var settings = FetchSettings()
        settings.timeout = time
        settings.connectTimeout = time
        // The user has named the address.
        settings.allowedNetworks = ["all"]
        do {
            let downloader = try CurlDownloader(settings)
            defer { downloader.shutdown() }
            return try await downloader.download(DownloadRequest(url: url + path, body: .memory(upTo: 65_536, thenFileIn: "/"))).status
        } catch let error as FetchError {
            switch error.kind {
            case .status(let status): return status
            case .connect where error.detail.hasSuffix("Connection refused"):
                throw CommandFailure(
                    .unavailable,
                    "Nobody listens at \(url + path): name the '--listen' of a worker that runs, or the '--bind' of a gateway.")
            default: throw CommandFailure(.unavailable, error.description)
            }
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
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
