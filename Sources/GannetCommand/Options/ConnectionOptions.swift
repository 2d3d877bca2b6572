import GannetBase
import GannetQueue

/// Which Redis, and which part of it.
struct ConnectionOptions: Sendable {
    /// An address of one of the forms in the help of `--redis`; nil is the private Redis. It may hold a password: never print it.
    var redis: String?
    /// Whether a private Redis may be started when none is named.
    var allowsPrivateRedis: Bool
    /// A file that holds the password alone.
    var passwordFile: String?
    /// PEM certificates that may sign a `rediss://` server's.
    var caFile: String?
    /// Every key begins with it.
    var namespace: String
    /// How many partitions a new namespace gets; nil for the usual number.
    var partitions: Int?

    private static let redisURL = Flag(
        "redis", .redisURL, secrecy: .user, section: .redis,
        "The Redis to use: redis://, rediss:// (TLS) or unix://. Several nodes of a Redis Cluster are written redis://a:6379,b:6379, and Sentinels "
            + "redis+sentinel://a,b/NAME, with the name of the primary. Without this option a private one is started.")
    private static let redisPasswordFile = Flag(
        "redis-password-file", .file(), section: .redis, "A file that holds the password for '--redis'.")
    private static let redisCAFile = Flag(
        "redis-ca-file", .file(), section: .redis, "A file of certificates (PEM) to trust for rediss:// instead of the system's.")
    private static let namespaceName = Flag(
        "namespace", .keyName, default: usualNamespace, section: .redis, "The namespace in Redis: every key begins with it.")

    private static let noPrivateRedis = Toggle(
        "no-private-redis", section: .redis, "Never start a private Redis. Without '--redis' the command is refused.")

    private static let partitionCount = Flag(
        "partitions", .integer(in: 1...Partition.most), section: .redis,
        "How many partitions a new namespace gets; without this option it is one, or 16 on a Redis Cluster. Each host belongs to one partition. The number is fixed when "
            + "the namespace is first used, and another number is refused then.")

    /// Of commands that use a namespace first.
    static let creatingFlags = flags + [partitionCount.entry]

    static let flags = [redisURL.entry, noPrivateRedis.entry, redisPasswordFile.entry, redisCAFile.entry, namespaceName.entry]

    /// The options that another command needs to see the same queue. It never shows an address, which may hold a password.
    var reminder: String {
        (redis == nil ? "" : " --redis …") + (namespace == Self.usualNamespace ? "" : " --namespace \(namespace)")
    }

    private static let usualNamespace = "gannet"

    init(_ arguments: Arguments) throws {
        redis = try arguments.optional(Self.redisURL)
        allowsPrivateRedis = !arguments.isSet(Self.noPrivateRedis)
        passwordFile = try arguments.optional(Self.redisPasswordFile)
        caFile = try arguments.optional(Self.redisCAFile)
        namespace = try arguments.require(Self.namespaceName)
        partitions = try arguments.optional(Self.partitionCount)

        // If they were ignored, people would believe that they talk to the Redis that they secured.
        if redis == nil, passwordFile != nil { throw arguments.usageError("'--redis-password-file' needs '--redis'.") }
        if caFile != nil, redis?.hasPrefix("rediss") != true {
            throw arguments.usageError("'--redis-ca-file' needs a '--redis' that begins with rediss://.")
        }
    }
}

/// `--queue`
enum QueueOption {
    static let usual = "default"
    static let name = Flag("queue", .keyName, default: usual, section: .redis, "The queue in the namespace.")

    /// For a command with a queue of its own. It is known so that it can be refused with a reason. It is never read from the environment,
    /// which is there for the other commands.
    static let refused = FlagEntry.refused(name.entry.name)

    static func refuse(_ arguments: Arguments) throws {
        guard arguments.origin(of: refused) == .option else { return }
        throw arguments.usageError("'run' uses a queue of its own; '--queue' is for 'enqueue', 'work' and 'status'.")
    }
}

/// The options of commands about what is in Redis: which Redis, which queue, and how much to print in which form.
struct QueueTarget: Sendable {
    let connection: ConnectionOptions
    /// The usual one for a command that is about no queue.
    let queue: String
    let console: Console
    /// Results are printed as JSON.
    let json: Bool

    /// Of commands that are about no queue.
    static let flagsWithoutQueue = ConnectionOptions.flags + CommonFlags.everywhere
    static let flags = ConnectionOptions.flags + behindConnection
    /// Of commands that use a namespace first.
    static let creatingFlags = ConnectionOptions.creatingFlags + behindConnection
    private static let behindConnection = [QueueOption.name.entry] + CommonFlags.everywhere

    init(_ arguments: Arguments) throws {
        connection = try ConnectionOptions(arguments)
        queue = try arguments.require(QueueOption.name)
        console = Console(try LogOptions(arguments))
        json = arguments.isSet(CommonFlags.json)
    }

    /// Prints the last of the results: a line of JSON, or else sentences, whose further lines are indented where they break.
    func show(
        _ object: @autoclosure () -> JSONValue, or text: @autoclosure () -> String, indent: Int = 0, _ status: ExitStatus = .done
    ) throws -> ExitStatus {
        if json { return try console.print(object().text, last: status) }
        let text = text()
        return try console.print(console.columns.map { text.wrapped(to: $0, indent: indent) } ?? text, last: status)
    }
}
