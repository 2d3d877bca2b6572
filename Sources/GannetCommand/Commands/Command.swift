import CommandLineKit

/// One command: its row in the table, its options read from the arguments, and what it does.
protocol Command: Sendable {
    associatedtype Options: Sendable

    static var spec: CommandSpec { get }
    static func options(from arguments: Arguments) throws(UsageError) -> Options
    static func run(_ options: Options) async throws(CommandFailure) -> ExitStatus
}

extension Command {
    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        try await run(options(from: arguments))
    }
}
