import GannetBase
import GannetHTTP
import Server

/// Where a gateway listens, and whom it answers.
struct ServeOptions: Sendable {
    let bind: ListenAddress
    let memory: Int
    private(set) var gateway = GatewaySettings()
    private(set) var service = HTTPServiceOptions()

    private static let address = Flag(
        "bind", .listenAddress, default: "127.0.0.1:9480",
        "Where to listen; ':9480' for all addresses. On another address than this machine's own it takes a token, and '--tls-cert' or "
            + "'--behind-proxy'.")
    private static let secret = Flag(
        "token", .text("token"), secrecy: .whole,
        "A secret that clients show: 'Authorization: Bearer …'. Other users of this machine see options, so use GANNET_TOKEN or '--token-file'."
    )
    private static let secrets = Flag(
        "token-file", .file(),
        "A file with a token on each line. Behind a token may stand name=…, at-once=… and per-second=…: the most requests of its holders.")
    private static let chain = Flag("tls-cert", .file(), "A file with the certificate chain of this server (PEM). It needs '--tls-key'.")
    private static let privateKey = Flag("tls-key", .file(), "A file with the key of '--tls-cert' (PEM).")
    private static let behindProxy = Toggle("behind-proxy", "A proxy in front of this server has the TLS. Nobody else reaches the server.")
    private static let readOnly = Toggle("read-only", "Change nothing and fetch nothing: answer questions about the queues alone.")
    private static let hostName = Flag(
        "host-name", .text("name"), isRepeatable: true,
        "A name under which clients ask a server without tokens, besides localhost. This option can be repeated.")
    private static let forward = Flag(
        "forward-header", .text("name"), isRepeatable: true,
        "A header of clients to send on to origins, such as Accept. Answers are kept for each of its values. This option can be repeated.")
    private static let pass = Flag(
        "pass-header", .text("name"), isRepeatable: true,
        "A header of origins to hand on to clients, besides those that caches know. This option can be repeated.")
    private static let memorySize = Flag(
        "memory", .size(in: 0...1_000_000_000_000), default: "256MB",
        "How much of this process' memory answers may take that are asked for again.")
    private static let memoryUnderWay = Flag(
        "memory-under-way", .size(in: 1_000_000...1_000_000_000_000), default: "1GB",
        "How much of this process' memory bodies may take on their way from origins and to clients. Beyond it clients get 503. It is at least "
            + "'--max-body'.")
    private static let connectionCount = Flag(
        "max-connections", .integer(in: 8...1_000_000), default: "4096",
        "The most connections at a time, 8 or more; one address gets an eighth of them. When all are taken, or all of an address, the longest idle one of "
            + "them makes room for a new one. A connection with a request makes no room: where all have one, the new one is refused.")

    private static let favouritesFile = Flag(
        "favourites", .file(),
        "The file of favourite pictures. Without this option it is favourites.json in GANNET_HOME, or in ~/.local/state/gannet.")

    /// How long clients have at the end.
    static let drainTimeout = Flag(
        "drain-timeout", .duration(in: .zero...(.seconds(86_400))), default: "25s",
        "How long clients that wait for their answers may go on after the first signal. Then their connections are closed.")

    static let flags = [
        favouritesFile.entry, address.entry, secret.entry, secrets.entry, chain.entry, privateKey.entry, behindProxy.entry, readOnly.entry,
        hostName.entry, forward.entry, pass.entry, memorySize.entry, memoryUnderWay.entry, connectionCount.entry,
    ]

    init(_ arguments: Arguments) throws {
        bind = try arguments.require(Self.address)
        memory = try arguments.require(Self.memorySize)
        gateway.room = BodyRoom(limit: try arguments.require(Self.memoryUnderWay))
        gateway.access.isReadOnly = arguments.isSet(Self.readOnly)
        gateway.access.hosts.formUnion(try arguments.all(Self.hostName).map { $0.lowercased() })
        let isBehindProxy = arguments.isSet(Self.behindProxy)
        let (certificate, key) = (try arguments.optional(Self.chain), try arguments.optional(Self.privateKey))
        let (token, tokenFile) = (try arguments.optional(Self.secret), try arguments.optional(Self.secrets))
        let hasToken = token != nil || tokenFile != nil
        if (certificate == nil) != (key == nil) { throw arguments.usageError("'--tls-cert' and '--tls-key' need each other.") }
        try takeHeaders(arguments, hasToken: hasToken)
        if !bind.isLoopback, !hasToken {
            throw arguments.usageError("On \(bind.host) others can reach this server: it takes '--token-file' or GANNET_TOKEN.")
        }
        if !bind.isLoopback, certificate == nil, !isBehindProxy {
            throw arguments.usageError(
                "On \(bind.host) tokens would cross the network in clear: it takes '--tls-cert' and '--tls-key', or '--behind-proxy'.")
        }
        gateway.access.hasTLS = certificate != nil || isBehindProxy
        let listed = try tokenFile.map { try Self.text(of: $0) }
        do throws(InvalidOptions) {
            if let listed { gateway.access.tokens = try Token.list(listed) }
            if let token { gateway.access.tokens.append(try Token(token, name: "--token")) }
        } catch {
            throw CommandFailure(.wrongUsage, tokenFile.map { "The file of tokens \($0): \(error)" } ?? "\(error)")
        }
        gateway.favourites = try arguments.optional(Self.favouritesFile) ?? Self.usualFavourites
        service.connections = try arguments.require(Self.connectionCount)
        // A gateway shares its machine with other programs, so it does not take every processor of a large one.
        service.threads = max(1, min(4, service.connections, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        // Behind a proxy all clients have its address.
        service.each = isBehindProxy ? nil : max(1, service.connections / 8)
        if let certificate, let key { service.tls = (certificate: try Self.text(of: certificate), key: try Self.text(of: key)) }
    }

    private mutating func takeHeaders(_ arguments: Arguments, hasToken: Bool) throws {
        let (forwarded, passed) = (try arguments.all(Self.forward), try arguments.all(Self.pass))
        for name in forwarded where !GatewaySettings.mayForward(name) {
            throw arguments.usageError(
                "'--forward-header' cannot send on \(Sentence.quoted(name)): requests to origins have their own, or none.")
        }
        if hasToken, forwarded.contains(where: { $0.lowercased() == "authorization" }) {
            throw arguments.usageError(
                "Where clients show tokens, 'Authorization' is a secret of this server: '--forward-header' cannot send it on to origins.")
        }
        for name in passed where !GatewaySettings.mayPass(name) {
            throw arguments.usageError(
                "'--pass-header' cannot hand on \(Sentence.quoted(name)): answers of this server have their own, or none.")
        }
        gateway.forwardedHeaders = forwarded.map { $0.lowercased() }
        gateway.passedHeaders = Set(passed.map { $0.lowercased() })
    }

    /// In the folder of this user's state, which is made where it is missing.
    private static var usualFavourites: String {
        let home = PrivateRedisEnvironment.current.home
        // Where it cannot be made, the first favourite says so.
        try? PrivateRedisFolder.makeHome(home)
        return home + "/favourites.json"
    }

    private static func text(of path: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.noUsableInput, "The file \(path) cannot be read: \(Descriptor.message(errno)).")
        }
        defer { close(descriptor) }
        guard let bytes = Descriptor.contents(of: descriptor, atMost: 1 << 20), bytes.count < 1 << 20 else {
            throw CommandFailure(.noUsableInput, "The file \(path) cannot be read, or is larger than a megabyte.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
