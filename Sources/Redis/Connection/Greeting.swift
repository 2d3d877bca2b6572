/// The first commands of every connection: the login, the database, and a check of the server.
struct Greeting {
    enum Step: Equatable {
        case more
        case done
        case failed(RedisError)
    }

    /// Sent together; the replies come in this order.
    let commands: [RedisCommand]

    /// A longer greeting is not Redis'.
    static let maximumReplyBytes = 256 << 10

    /// The facts in the answer to `HELLO`.
    private(set) var server: ServerFacts?

    private enum Expectation {
        case hello
        case select(Int)
        case ping
    }
    private var expected: [Expectation]
    private let asksSentinel: Bool

    /// - Parameter asksSentinel: The server has to be a Sentinel, and else it must not be one.
    init(user: String?, password: RedisSecret?, database: Int, clientName: String?, asksSentinel: Bool = false) {
        self.asksSentinel = asksSentinel
        var hello: [RedisArgument] = ["HELLO", "2"]
        if let password { hello += ["AUTH", .string(user ?? "default"), .string(password.reveal())] }
        if let clientName { hello += ["SETNAME", .string(clientName)] }
        var commands = [RedisCommand(hello)]
        expected = [.hello]
        if database != 0 {
            commands.append(RedisCommand("SELECT", .integer(database)))
            expected.append(.select(database))
        }
        // HELLO and SELECT are answered while the data set loads; PING is not.
        commands.append(RedisCommand("PING"))
        expected.append(.ping)
        self.commands = commands
    }

    mutating func receive(_ reply: RedisReply) -> Step {
        guard !expected.isEmpty else { return .failed(RedisError(.notRedis, "it sends more replies than there were commands")) }
        let step =
            switch expected.removeFirst() {
            case .hello: judgeHello(reply)
            case .select(let database): Self.judgeSelect(reply, database)
            case .ping: Self.judgePing(reply)
            }
        return step == .done && !expected.isEmpty ? .more : step
    }

    private mutating func judgeHello(_ reply: RedisReply) -> Step {
        switch reply {
        case .error(let error) where error.kind == .other && error.detail.contains("unknown command"):
            // The error text is dropped: it quotes the command with its password.
            return .failed(RedisError(.tooOld, "it does not know HELLO"))
        case .error(let error):
            return .failed(error)
        case .array(let fields):
            guard let facts = ServerFacts(fields) else { return .failed(RedisError(.notRedis, "its HELLO names no version")) }
            guard facts.version >= RedisConfiguration.oldestServer else { return .failed(RedisError(.tooOld, "it is \(facts.version)")) }
            server = facts
            switch (facts.mode, asksSentinel) {
            case (.sentinel, false):
                return .failed(
                    RedisError(
                        .invalidConfiguration,
                        "The server at the Redis address is a Sentinel: write redis+sentinel://host:port/NAME, with the name of the primary."
                    ))
            case (.alone, true), (.cluster, true):
                return .failed(RedisError(.invalidConfiguration, "A server of the redis+sentinel:// address is not a Sentinel."))
            // A cluster's replica knows where each slot is, and sends commands on.
            case (.cluster, false): return .done
            default: return facts.isReplica ? .failed(RedisError(.readOnly)) : .done
            }
        default:
            return .failed(RedisError(.notRedis, "its answer to HELLO is malformed"))
        }
    }

    private static func judge(_ reply: RedisReply) -> Step {
        if case .error(let error) = reply { .failed(error) } else { .done }
    }

    private static func judgeSelect(_ reply: RedisReply, _ database: Int) -> Step {
        if case .error(let error) = reply, error.kind == .other, error.detail.contains("DB index") {
            return .failed(
                RedisError(.invalidConfiguration, "The server has no database \(database): its `databases` setting says how many."))
        }
        return judge(reply)
    }

    private static func judgePing(_ reply: RedisReply) -> Step {
        // A user without the right to PING may still have all other rights. A server that refuses writes refuses PING as well, and still serves reads.
        if case .error(let error) = reply, [.notPermitted, .writesDisabled].contains(error.kind) { return .done }
        return judge(reply)
    }
}

/// The facts that a server tells in its answer to `HELLO`.
package struct ServerFacts: Sendable, Equatable {
    enum Mode: Sendable {
        case alone, cluster, sentinel
    }

    package let version: RedisVersion
    let mode: Mode
    let isReplica: Bool

    /// Reads names and values by turns; `nil` without a version.
    package init?(_ fields: [RedisReply]) {
        var texts: [String: String] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            guard let name = try? fields[index].asString(), let value = try? fields[index + 1].asString() else { continue }
            texts[name] = value
        }
        guard let version = texts["version"].flatMap(RedisVersion.init) else { return nil }
        self.version = version
        mode =
            switch texts["mode"] {
            case "cluster": .cluster
            case "sentinel": .sentinel
            default: .alone
            }
        isReplica = texts["role"] == "replica" || texts["role"] == "slave"
    }
}
