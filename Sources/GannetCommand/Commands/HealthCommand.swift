import CommandLineKit

/// `gannet health`: for container engines, which ask by running a program.
enum HealthCommand: Command {
    private static let worker = Flag(
        "listen", .listenAddress, "The worker's address: the '--listen' of its 'gannet work' or 'gannet run', such as 127.0.0.1:9464.")
    private static let ready = Toggle("ready", "Ask whether the worker can take jobs, rather than whether it is alive.")

    static let spec = CommandSpec(
        "health",
        summary: "Ask a worker on this machine how it is.",
        discussion: "The exit status is 0 when all is well, and 69 when it is not or no worker answers.",
        flags: [worker.entry, ready.entry] + CommonFlags.everywhere)

    static func options(from arguments: Arguments) throws(UsageError) -> HealthOptions {
        guard let address = try arguments.optional(worker) else {
            throw arguments.usageError("Name the address of the worker to ask: '--listen 127.0.0.1:9464', as its 'gannet work' has it.")
        }
        return HealthOptions(address: address, isReadinessAsked: arguments.isSet(ready), log: try LogOptions(arguments))
    }

    static func run(_ options: HealthOptions) async throws(CommandFailure) -> ExitStatus {
        let path = options.isReadinessAsked ? "/readyz" : "/healthz"
        let status = try await EndpointQuestion.status(of: options.address.url + path, within: bound)
        guard status == 200 else {
            throw CommandFailure(.unavailable, "The worker answers \(status) to \(path) at \(options.address.url).")
        }
        Console(options.log).detail("well: 200 to \(path) at \(options.address.url)")
        return .done
    }

    /// Longer than a worker takes to answer when its Redis is away.
    private static let bound = Duration.seconds(8)
}

/// The arguments of `gannet health`.
struct HealthOptions: Sendable {
    var address: ListenAddress
    var isReadinessAsked: Bool
    var log: LogOptions
}
