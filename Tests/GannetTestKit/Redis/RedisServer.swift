internal import GannetBase

/// A real `redis-server` of a test's own, on a Unix socket in a temporary folder and, when asked for, on TCP ports that the kernel
/// chose. It has no configuration file, keeps nothing on disk unless told to, and ends with its last reference.
package final class RedisServer: Sendable {
    private struct State: Sendable {
        var options: Options
        var process: ChildProcess
    }

    /// The folder it runs in: its socket, its append-only file.
    package let folder: TemporaryFolder

    /// A plain TCP port of 127.0.0.1, when `Options.listensOnTCP` asked for one.
    package var port: UInt16? { ports.plain?.number }

    /// A TLS port of 127.0.0.1, when `Options.tls` asked for one.
    package var tlsPort: UInt16? { ports.tls?.number }

    /// The port for other nodes of its cluster, when `Options.cluster` asked for one.
    package var busPort: UInt16? { ports.bus?.number }

    private let ports: (plain: FreePort?, tls: FreePort?, bus: FreePort?)

    private let movableClock: MovableClock?

    /// Its clock; the server must have been started with `movableClock`.
    package var clock: MovableClock {
        guard let movableClock else { preconditionFailure("start the server with Options.movableClock to move its clock") }
        return movableClock
    }

    private let state: Monitor<State>

    /// Started at first use, one for the whole test process, and ended with it. For tests that keep to keys of their own and break
    /// nothing.
    package static var shared: RedisServer {
        get async throws { try await sharedStart.value }
    }

    private static let sharedStart = Task { try await RedisServer.start() }

    /// Starts a server, as ready as `options.readiness` says.
    package static func start(_ options: Options = Options()) async throws -> RedisServer { try await RedisServer(options) }

    private init(_ options: Options) async throws {
        folder = try TemporaryFolder()
        ports = (
            options.listensOnTCP ? try Socket.freePort() : nil, options.tls == nil ? nil : try Socket.freePort(),
            options.cluster == nil ? nil : try Socket.freePort()
        )
        var environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
        movableClock = options.movableClock ? try await MovableClock(in: folder) : options.sharedClock
        environment.merge(movableClock?.environment ?? [:]) { $1 }
        self.environment = environment
        let arguments = options.commandLine(
            folder: folder.path, port: ports.plain?.number, tlsPort: ports.tls?.number, busPort: ports.bus?.number)
        let process = try await Self.launch(arguments, environment, readiness: options.readiness)
        state = Monitor(State(options: options, process: process))
    }

    private let environment: [String: String]

    /// The path of its Unix socket.
    package var socketPath: String { folder.file(Options.socketName) }

    /// The running or last process of this server.
    package var process: ChildProcess { state.update { $0.process } }

    /// Its log since the last start.
    package var log: LineLog { process.output }

    /// The number of its running or last process.
    package var pid: Int32 { process.pid }

    /// Its version as it announced it, such as `7.0.15`.
    package var version: String {
        for line in log.lines {
            guard let start = line.firstRange(of: "Redis version=")?.upperBound else { continue }
            return String(line[start...].prefix { $0.isNumber || $0 == "." })
        }
        return "unknown"
    }

    /// Ends it in good order: what it is to keep is on disk. It can be started again with `restart()`.
    package func stop() async throws {
        let process = process
        process.signal(SIGCONT)
        process.terminate()
        _ = try await process.exitStatus
    }

    /// Ends it as a crash would.
    package func kill9() async throws {
        let process = process
        process.kill()
        _ = try await process.exitStatus
    }

    /// Starts it again on the same socket, ports and folder, with changed options where `change` makes any; stops it first if it runs.
    package func restart(_ change: @Sendable (inout Options) -> Void = { _ in }) async throws {
        try await stop()
        let options = state.update { state in
            change(&state.options)
            return state.options
        }
        let arguments = options.commandLine(folder: folder.path, port: port, tlsPort: tlsPort, busPort: busPort)
        let process = try await Self.launch(arguments, environment, readiness: options.readiness)
        state.update { $0.process = process }
    }

    /// Stops it where it is, with its connections open and silent.
    package func pause() { process.signal(SIGSTOP) }

    /// Lets it go on after `pause()`.
    package func resume() { process.signal(SIGCONT) }

    /// One command on a connection of its own over the Unix socket, without the client under test.
    @discardableResult
    package func command(_ arguments: String...) async throws -> RedisAnswer { try await command(arguments) }

    /// The same with words that are put together at run time.
    @discardableResult
    package func command(_ arguments: [String]) async throws -> RedisAnswer {
        let address = ServerAddress.unix(path: socketPath)
        return try await OwnedThread.run(name: "test-kit") { try RedisCall.make(arguments, to: address) }
    }

    /// The answers to several commands on one connection, as the server sent them.
    func transcript(_ commands: [String]...) async throws -> [UInt8] {
        let address = ServerAddress.unix(path: socketPath)
        return try await OwnedThread.run(name: "test-kit") { try RedisCall.transcript(commands, to: address) }
    }

    private static func launch(
        _ arguments: [String], _ environment: [String: String], readiness: Options.Readiness
    ) async throws -> ChildProcess {
        let process = try ChildProcess(.init("redis-server", arguments, environment: environment))
        let wanted = readiness.logLine
        guard try await process.output.line(where: { $0.lowercased().contains(wanted) }) != nil else {
            let status = try await process.exitStatus
            try await process.errors.finished()
            throw KitError("redis-server ended with \(status) instead of starting: \(process.output.text)\(process.errors.text)")
        }
        return process
    }
}
