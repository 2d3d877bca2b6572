/// `gannet redis start`: for people who want to look inside, or start it before the first command.
struct PrivateRedisStartCommand: Command {
    static let spec = CommandSpec(
        "start", summary: "Start the private Redis and print its address.", flags: CommonFlags.everywhere, visibility: .hidden)

    private let console: Console

    init(_ arguments: Arguments) throws { console = Console(try LogOptions(arguments)) }

    func run() async throws -> ExitStatus {
        let lease = try await PrivateRedis(environment: .current).ensureRunning(console: console)
        try console.print(lease.address)
        return .done
    }
}

/// `gannet redis stop`
struct PrivateRedisStopCommand: Command {
    static let spec = CommandSpec(
        "stop", summary: "Stop the private Redis now. Its data stays.", flags: CommonFlags.everywhere,
        examples: [
            Example("gannet redis stop", "Stops the private Redis, if it runs.")
        ])

    private let console: Console

    init(_ arguments: Arguments) throws { console = Console(try LogOptions(arguments)) }

    func run() async throws -> ExitStatus {
        let outcome = try await PrivateRedis(environment: .current).stop()
        switch outcome {
        case .wasNotRunning: console.note("The private Redis was not running.")
        case .stopped(wasInUse: false): console.note("Stopped the private Redis.")
        case .stopped(wasInUse: true): console.note("Stopped the private Redis, though other commands were using it.")
        }
        return .done
    }
}

/// `gannet redis supervise`: started by `PrivateRedis` in a session of its own, not by people.
struct PrivateRedisSuperviseCommand: Command {
    static let spec = CommandSpec("supervise", summary: "Supervise the private Redis.", visibility: .hidden)

    init(_ arguments: Arguments) throws {}

    func run() async throws -> ExitStatus {
        Supervisor(environment: .current).run()
    }
}
