internal import GannetBase

extension RedisConfiguration {
    /// Parses `redis://[[user]:password@]host[:port][,host[:port]…][/database]`, `rediss://…`, `unix:///path/to/socket[?db=n]` and
    /// `redis+sentinel://[[user]:password@]host[:port][,host[:port]…]/primary[/database]`, `rediss+sentinel://…`.
    ///
    /// No error quotes the URL, because it may hold a password.
    /// - Parameter passwordFile: Holds the password instead of the URL. The URL may still name the user.
    package init(url: String, passwordFile: String? = nil) throws(RedisError) {
        func refuse(_ why: String) -> RedisError { RedisError(.invalidConfiguration, why) }

        guard let separator = url.firstRange(of: "://") else {
            throw refuse("A Redis address looks like redis://host:6379/0, rediss://host:6379/0 or unix:///path/to/redis.sock.")
        }
        let scheme = url[..<separator.lowerBound].lowercased()
        guard ["redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel"].contains(scheme) else {
            throw refuse("The Redis address has an unknown scheme; use redis://, rediss:// (TLS), redis+sentinel:// or unix://.")
        }
        // After an unescaped '@', the rest of a password would count as a part of the host, which errors print.
        let authority = url[separator.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard authority.count(where: { $0 == "@" }) <= 1, !url.contains("#"), Self.isPercentEncoded(url) else {
            throw refuse("The Redis address cannot be read: write @ : / # and % in a user or password as %40 %3A %2F %23 %25.")
        }
        let hosts = Self.hosts(of: authority)
        if hosts.count > 1 {
            // The first host stands for all while the rest is read.
            let others = url[hosts[0].endIndex..<authority.endIndex]
            guard hosts.count <= Self.mostHosts, hosts.allSatisfy({ !$0.isEmpty }), scheme != "unix" else {
                throw refuse("The Redis address cannot be read: write up to \(Self.mostHosts) hosts as host:port,host:port.")
            }
            var first = url
            first.removeSubrange(others.startIndex..<others.endIndex)
            try self.init(url: first, passwordFile: passwordFile)
            let further = try hosts.dropFirst().map { host throws(RedisError) in
                try RedisConfiguration(url: "\(scheme)://\(host)\(scheme.hasSuffix("sentinel") ? "/x" : "")").address
            }
            guard case .sentinel(let sentinels) = address else {
                seeds = further
                return
            }
            let all = further.reduce(into: sentinels.sentinels) { if case .sentinel(let one) = $1 { $0 += one.sentinels } }
            address = .sentinel(SentinelAddress(sentinels: all, primary: sentinels.primary, tls: sentinels.tls))
            return
        }
        let isSentinel = scheme.hasSuffix("+sentinel")
        guard let parts = URLComponents(string: isSentinel ? Self.withoutPrimary(url, after: authority) : url),
            let database = Self.database(in: parts, scheme: scheme)
        else {
            throw refuse(
                "The Redis address cannot be read: expected redis://[user:password@]host[:port][/database], "
                    + "with special characters in the password percent-encoded.")
        }
        guard (0...1_000_000).contains(database) else { throw refuse("The Redis database number is out of range.") }

        if scheme == "unix" {
            guard authority.isEmpty || authority.hasSuffix("@"), parts.path.count > 1 else {
                throw refuse("A Unix socket is written unix:///absolute/path/to/redis.sock.")
            }
            guard parts.path.utf8.count <= Self.longestSocketPath else {
                throw refuse("The socket's path is longer than the \(Self.longestSocketPath) bytes the system allows: \(parts.path)")
            }
            self.init(address: .unix(path: parts.path))
        } else {
            guard let host = parts.host, !host.isEmpty else { throw refuse("The Redis address names no host.") }
            guard let port = parts.port ?? (Self.namesPort(authority) ? nil : isSentinel ? 26379 : 6379) else {
                throw refuse("The Redis port must be between 1 and 65535.")
            }
            guard RedisAddress.ports.contains(port) else { throw refuse("The Redis port must be between 1 and 65535.") }
            // An escaped '@' would make user and password a part of the host.
            guard !host.contains("@"), !host.utf8.contains(0) else { throw refuse("The Redis host has a character that no name has.") }
            let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
            if isSentinel {
                guard let primary = Self.primary(in: url, after: authority) else {
                    throw refuse(
                        "A redis+sentinel:// address ends with the name that the Sentinels have for the primary, such as /mymaster.")
                }
                let sentinel = SentinelAddress.Host(name: bare, port: port)
                self.init(address: .sentinel(SentinelAddress(sentinels: [sentinel], primary: primary, tls: scheme.hasPrefix("rediss"))))
            } else {
                self.init(address: .tcp(host: bare, port: port, tls: scheme == "rediss"))
            }
        }
        self.database = database
        let user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        if let passwordFile {
            self.credentials = RedisCredentials(user: user, password: .file(path: passwordFile))
        } else if let password = parts.password {
            self.credentials = RedisCredentials(user: user, password: .value(RedisSecret(password)))
        } else if user != nil {
            throw refuse(
                "The Redis address names a user but no password: write redis://user:password@host, or :password@ alone, or keep "
                    + "the password in a file.")
        }
    }

    private static let mostHosts = 64

    /// The hosts of `user:password@host:port,host:port`.
    private static func hosts(of authority: Substring) -> [Substring] {
        let start = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        return authority[start...].split(separator: ",", omittingEmptySubsequences: false)
    }

    /// The name of the primary in `…/name` or `…/name/3`.
    private static func primary(in url: String, after authority: Substring) -> String? {
        let name = url[authority.endIndex...].dropFirst().prefix { $0 != "/" && $0 != "?" }
        let (bytes, isStrict) = [UInt8].percentDecoded(name.utf8)
        return name.isEmpty || !isStrict ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// The URL with the database alone behind its host.
    private static func withoutPrimary(_ url: String, after authority: Substring) -> String {
        let name = url[authority.endIndex...].dropFirst().prefix { $0 != "/" && $0 != "?" }
        return String(url[..<authority.endIndex]) + String(url[name.endIndex...])
    }

    /// Whether every `%` begins an escape, and the escapes are UTF-8. The URL parser would accept other `%` as they are, and the password
    /// would be a wrong one.
    private static func isPercentEncoded(_ text: String) -> Bool {
        let (bytes, isStrict) = [UInt8].percentDecoded(text.utf8)
        return isStrict && String(validating: bytes, as: UTF8.self) != nil
    }

    /// Whether `user:password@host:port` has a port. The URL parser drops a port that is too large.
    private static func namesPort(_ authority: Substring) -> Bool {
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        return (place.lastIndex(of: "]").map { place[$0...] } ?? place).contains(":")
    }

    /// The database in a URL: the path of a network address, `?db=` of a socket. `nil` if it is not a number.
    private static func database(in parts: URLComponents, scheme: String) -> Int? {
        let text: String
        if scheme == "unix" {
            guard let items = parts.queryItems else { return 0 }
            guard items.count == 1, items[0].name == "db" else { return nil }
            text = items[0].value ?? ""
        } else {
            guard parts.query == nil else { return nil }
            text = String(parts.path.drop { $0 == "/" })
            if text.isEmpty { return 0 }
        }
        return text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }

    /// The size of `sun_path` without its terminator, on the system with the shorter one.
    static let longestSocketPath = 103
}
