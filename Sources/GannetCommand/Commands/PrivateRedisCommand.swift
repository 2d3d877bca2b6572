import CommandLineKit

/// `gannet redis start`: for people who want to look inside, or start it before the first command.
enum PrivateRedisStartCommand: Command {
    static let spec = CommandSpec(
        "start", summary: "Start the private Redis and print its address.", flags: CommonFlags.everywhere, visibility: .hidden)

    static func options(from arguments: Arguments) throws(UsageError) -> LogOptions {
        try LogOptions(arguments)
    }

    static func run(_ log: LogOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(log)
        let lease = try await PrivateRedis(environment: .current).ensureRunning(console: console)
        try console.print(lease.address)
        return .done
    }
}

/// `gannet redis stop`
enum PrivateRedisStopCommand: Command {
    static let spec = CommandSpec("stop", summary: "Stop the private Redis now. Its data stays.", flags: CommonFlags.everywhere)

    static func options(from arguments: Arguments) throws(UsageError) -> LogOptions {
        try LogOptions(arguments)
    }

    static func run(_ log: LogOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(log)
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
enum PrivateRedisSuperviseCommand: Command {
    static let spec = CommandSpec("supervise", summary: "Supervise the private Redis.", visibility: .hidden)

    static func options(from arguments: Arguments) throws(UsageError) {}

    static func run(_ options: Void) async throws(CommandFailure) -> ExitStatus {
        Supervisor(environment: .current).run()
    }
}
