extension RedisServer {
    /// How a server is started.
    package struct Options: Sendable {
        /// Further arguments for `redis-server`, after all others, such as `["--requirepass", "secret"]`.
        package var arguments: [String] = []

        /// Whether it keeps an append-only file, flushed with every write.
        package var appendOnly = false

        /// Whether it also listens on a TCP port of 127.0.0.1.
        package var listensOnTCP = false

        /// When set, the server is a node of a cluster, in which a primary that is silent for this long counts as lost.
        package var cluster: Duration?

        /// When set, it also listens on a TLS port of 127.0.0.1, and asks clients for no certificate.
        package var tls: TLS?

        /// Whether tests can move its clock.
        package var movableClock = false

        /// A clock that the server shares with others, instead of one of its own.
        package var sharedClock: MovableClock?

        /// How far `start` and `restart` wait.
        package var readiness = Readiness.ready

        package init() {}

        /// The default options with some changed.
        package init(_ change: (inout Options) -> Void) {
            change(&self)
        }

        /// A certificate for the TLS port; paths of PEM files.
        package struct TLS: Sendable {
            package var certificate: String
            package var key: String
            package var authority: String

            package init(certificate: String, key: String, authority: String) {
                self.certificate = certificate
                self.key = key
                self.authority = authority
            }
        }

        /// The state that a caller wants to wait for.
        package enum Readiness: Sendable {
            /// It has loaded its data and serves.
            case ready
            /// It listens, and may be loading its data still.
            case listening

            var logLine: String {
                switch self {
                case .ready: "ready to accept connections"
                case .listening: "server initialized"
                }
            }
        }

        static let socketName = "redis.sock"

        func commandLine(folder: String, port: UInt16?, tlsPort: UInt16?, busPort: UInt16?) -> [String] {
            var line = [
                "--port", "\(port ?? 0)", "--bind", "127.0.0.1", "--unixsocket", "\(folder)/\(Self.socketName)", "--dir", folder,
                "--daemonize", "no", "--logfile", "", "--save", "",
            ]
            line += appendOnly ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"]
            if let tls, let tlsPort {
                line += [
                    "--tls-port", "\(tlsPort)", "--tls-cert-file", tls.certificate, "--tls-key-file", tls.key,
                    "--tls-ca-cert-file", tls.authority, "--tls-auth-clients", "no",
                ]
            }
            if let cluster, let busPort {
                line += [
                    "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", "\(busPort)",
                    "--cluster-node-timeout", "\(Int(cluster / .milliseconds(1)))", "--cluster-require-full-coverage", "no",
                    "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
                ]
            }
            return line + arguments
        }
    }
}
