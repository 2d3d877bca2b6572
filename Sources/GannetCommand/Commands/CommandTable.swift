import CommandLineKit

/// Every command there is, or will be.
enum CommandTable {
    static let parser = CommandLineParser(root: root, environmentPrefix: "GANNET_")

    private static let commands: [any Command.Type] = [
        RunCommand.self, EnqueueCommand.self, WorkCommand.self, StatusCommand.self,
    ]
    private static let redisCommands: [any Command.Type] = [
        PrivateRedisStartCommand.self, PrivateRedisStopCommand.self, PrivateRedisSuperviseCommand.self,
    ]
    private static let later = [
        "get", "explain", "jobs", "batch", "export", "pause", "resume", "purge", "doctor", "demo", "bench",
    ]

    private static let root = CommandSpec(
        "gannet",
        summary: "Fetch lists of URLs with a fleet of workers, each URL once.",
        // Those that make sense before a command's name; each command lists the ones it follows.
        flags: CommonFlags.everywhere + ConnectionOptions.flags + [QueueOption.name.entry],
        subcommands: commands.map { $0.spec } + [redis] + later.map(CommandSpec.later)
    )

    private static let redis = CommandSpec(
        "redis",
        summary: "Start or stop the private Redis, which commands use when '--redis' is not given.",
        subcommands: redisCommands.map { $0.spec }
    )

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        let isRedis = arguments.path.dropFirst().first == redis.name
        let candidates = isRedis ? redisCommands : commands
        guard let command = candidates.first(where: { $0.spec.name == arguments.path.last }) else {
            throw CommandFailure(.defect, "The command '\(arguments.path.joined(separator: " "))' is listed but not built in.")
        }
        return try await command.run(arguments)
    }
}
