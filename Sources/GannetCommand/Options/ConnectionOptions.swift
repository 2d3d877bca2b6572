import CommandLineKit

/// Which Redis, and which part of it.
struct ConnectionOptions: Sendable {
    /// `redis://`, `rediss://` or `unix://`; nil is the private Redis. It may hold a password: never print it.
    var redis: String?
    /// Whether the private Redis stands in for one that is not named.
    var allowsPrivateRedis: Bool
    /// A file that holds the password alone.
    var passwordFile: String?
    /// PEM certificates that may sign a `rediss://` server's.
    var caFile: String?
    /// The part of the Redis that belongs to us: every key begins with it.
    var namespace: String

    private static let redisURL = Flag(
        "redis", .redisURL, isSecret: true, section: .redis,
        "The Redis to use: redis://, rediss:// or unix://. Without it a private one is started.")
    private static let redisPasswordFile = Flag(
        "redis-password-file", .file(), section: .redis, "A file that holds the password for '--redis'.")
    private static let redisCAFile = Flag(
        "redis-ca-file", .file(), section: .redis, "Certificates (PEM) to trust for rediss:// instead of the system's.")
    private static let namespaceName = Flag(
        "namespace", .keyName, default: usualNamespace, section: .redis, "The part of the Redis that is ours.")

    private static let noPrivateRedis = Toggle(
        "no-private-redis", section: .redis, "Never start a private Redis: without '--redis' the command is refused.")

    static let flags = [redisURL.entry, noPrivateRedis.entry, redisPasswordFile.entry, redisCAFile.entry, namespaceName.entry]

    /// What has to be said again for another command to see the same: never an address, which may hold a password.
    var reminder: String {
        (redis == nil ? "" : " --redis …") + (namespace == Self.usualNamespace ? "" : " --namespace \(namespace)")
    }

    private static let usualNamespace = "gannet"

    init(_ arguments: Arguments) throws(UsageError) {
        redis = try arguments.optional(Self.redisURL)
        allowsPrivateRedis = !arguments.isSet(Self.noPrivateRedis)
        passwordFile = try arguments.optional(Self.redisPasswordFile)
        caFile = try arguments.optional(Self.redisCAFile)
        namespace = try arguments.require(Self.namespaceName)

        // Silently unused, they would leave someone sure to be talking to the Redis they secured.
        if redis == nil, passwordFile != nil { throw arguments.usageError("'--redis-password-file' needs '--redis'.") }
        if caFile != nil, redis?.hasPrefix("rediss://") != true {
            throw arguments.usageError("'--redis-ca-file' needs a '--redis' that begins with rediss://.")
        }
    }
}
