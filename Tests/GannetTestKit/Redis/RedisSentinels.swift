internal import GannetBase

/// Real Sentinels of a test's own, which watch a primary and its replica. All end with their last reference.
package final class RedisSentinels: Sendable {
    /// The name that the Sentinels have for the primary.
    package static let primaryName = "main"

    /// The server that is the primary at first.
    package let primary: RedisServer
    package let replica: RedisServer
    private let ports: [FreePort]
    private let processes: [ChildProcess]
    private let folder: TemporaryFolder

    /// Starts a primary, a replica and three Sentinels, and returns when the Sentinels know all of them.
    /// - Parameter downAfter: After this time without an answer the primary counts as lost.
    package static func start(
        downAfter: Duration = .milliseconds(500), _ change: @Sendable (inout RedisServer.Options) -> Void = { _ in }
    ) async throws -> RedisSentinels { try await RedisSentinels(downAfter, change) }

    private init(_ downAfter: Duration, _ change: @Sendable (inout RedisServer.Options) -> Void) async throws {
        func server() async throws -> RedisServer {
            try await RedisServer.start(
                .init {
                    $0.listensOnTCP = true
                    $0.arguments = ["--repl-diskless-sync-delay", "0"]
                    change(&$0)
                })
        }
        (primary, replica) = (try await server(), try await server())
        try await replica.ask("REPLICAOF", "127.0.0.1", "\(primary.port ?? 0)")
        let replica = replica
        try await eventually("the replica follows its primary") {
            try await replica.info("INFO", "replication")["master_link_status"] == "up"
        }
        folder = try TemporaryFolder()
        var (ports, processes): ([FreePort], [ChildProcess]) = ([], [])
        for index in 0..<3 {
            let port = try Socket.freePort()
            let name = Self.primaryName
            let lines = [
                "port \(port.number)", "bind 127.0.0.1", "dir \(folder.path)", "unixsocket \(folder.file("s\(index)"))",
                "sentinel monitor \(name) 127.0.0.1 \(primary.port ?? 0) 2",
                "sentinel down-after-milliseconds \(name) \(Int(downAfter / .milliseconds(1)))", "sentinel failover-timeout \(name) 4000",
            ]
            let file = try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "sentinel\(index).conf")
            let process = try ChildProcess(
                .init("redis-server", [file, "--sentinel"], environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]))
            guard try await process.output.line(where: { $0.contains("+monitor") }) != nil else {
                _ = try await process.exitStatus
                throw KitError("a Sentinel ended instead of starting: \(process.output.text)\(process.errors.text)")
            }
            ports.append(port)
            processes.append(process)
        }
        (self.ports, self.processes) = (ports, processes)
        for index in 0..<3 {
            // They look for each other every two seconds otherwise, and at servers every ten. They ask each other for votes as usual: Sentinels
            // that all ask at once vote for themselves, and try again much later.
            let periods = ["info-period", "publish-period"].flatMap { [$0, "50"] }
            let answer = try await command(index, ["SENTINEL", "DEBUG"] + periods)
            guard answer.text == "OK" else { throw KitError("a Sentinel keeps its periods: \(answer)") }
        }
        for index in 0..<3 {
            try await eventually("a Sentinel knows the others and the replica") {
                let found = try await self.command(index, "SENTINEL", "MASTER", Self.primaryName)
                guard case .list(let fields) = found else { return false }
                let texts = fields.map { $0.text ?? "" }
                func value(_ name: String) -> String? { texts.firstIndex(of: name).map { texts[$0 + 1] } }
                return value("num-other-sentinels") == "2" && value("num-slaves") == "1"
            }
        }
    }

    /// The address for clients.
    package var url: String { "redis+sentinel://" + ports.map { "127.0.0.1:\($0.number)" }.joined(separator: ",") + "/\(Self.primaryName)" }

    /// One command to a Sentinel.
    @discardableResult
    package func command(_ index: Int, _ arguments: String...) async throws -> RedisAnswer { try await command(index, arguments) }

    private func command(_ index: Int, _ arguments: [String]) async throws -> RedisAnswer {
        let address = ServerAddress.unix(path: folder.file("s\(index)"))
        return try await OwnedThread.run(name: "test-kit") { try RedisCall.make(arguments, to: address) }
    }

    /// Lets one of the Sentinels hang, until `resume(_:)`.
    package func pause(_ index: Int) { processes[index].signal(SIGSTOP) }

    package func resume(_ index: Int) { processes[index].signal(SIGCONT) }

    /// Ends one of the Sentinels as a crash would.
    package func kill(_ index: Int) async throws {
        processes[index].kill()
        _ = try await processes[index].exitStatus
    }
}
