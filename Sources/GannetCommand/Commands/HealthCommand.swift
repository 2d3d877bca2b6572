import CommandLineKit
import Gannet

/// `gannet health`: for container engines, which ask by running a program.
enum HealthCommand: Command {
    private static let ready = Toggle("ready", "Ask whether it can take jobs, rather than whether it lives.")

    static let spec = CommandSpec(
        "health",
        summary: "Ask a worker on this machine, by its '--listen' address, how it is.",
        discussion: "Exit status 0 when all is well, 69 when it is not or nobody answers.",
        flags: [ListenOption.address.entry, ready.entry] + CommonFlags.everywhere)

    static func options(from arguments: Arguments) throws(UsageError) -> HealthOptions {
        guard let address = try arguments.optional(ListenOption.address) else {
            throw arguments.usageError("Name the worker's address: '--listen 127.0.0.1:9464'.")
        }
        return HealthOptions(address: address, isReadinessAsked: arguments.isSet(ready), log: try LogOptions(arguments))
    }

    static func run(_ options: HealthOptions) async throws(CommandFailure) -> ExitStatus {
        let path = options.isReadinessAsked ? "/readyz" : "/healthz"
        let status: Int
        do throws(EndpointFailure) {
            status = try await EndpointQuestion.status(of: options.address.url + path, within: bound)
        } catch {
            throw CommandFailure(.unavailable, error.description)
        }
        guard status == 200 else {
            throw CommandFailure(.unavailable, "The worker answers \(status) to \(path) at \(options.address.url).")
        }
        Console(options.log).detail("well: 200 to \(path) at \(options.address.url)")
        return .done
    }

    /// Longer than a worker takes to answer when its Redis is away.
    private static let bound = Duration.seconds(8)
}

/// What `gannet health` was asked to do.
struct HealthOptions: Sendable {
    var address: ListenAddress
    var isReadinessAsked: Bool
    var log: LogOptions
}
