import CommandLineKit

/// `gannet health`: asks a worker's endpoint how the worker is. Container engines check health by running a program.
struct HealthCommand: Command {
    private static let worker = Flag(
        "listen", .listenAddress, "The worker's address: the '--listen' of its 'gannet work' or 'gannet run', such as 127.0.0.1:9464.")
    private static let ready = Toggle("ready", "Ask whether the worker can take jobs, rather than whether it is alive.")

    static let spec = CommandSpec(
        "health",
        summary: "Ask a worker on this machine how it is.",
        discussion: "The exit status is 0 when all is well, and 69 when it is not or no worker answers.",
        flags: [worker.entry, ready.entry] + CommonFlags.everywhere,
        examples: [
            Example("gannet health --listen 127.0.0.1:9464", "Asks the worker that was started with 'gannet work --listen 127.0.0.1:9464'.")
        ])

    /// Longer than a worker takes to answer when its Redis is away.
    private static let bound = Duration.seconds(8)

    private let address: ListenAddress
    private let isReadinessAsked: Bool
    private let console: Console

    init(_ arguments: Arguments) throws {
        guard let address = try arguments.optional(Self.worker) else {
            throw arguments.usageError("Name the address of the worker to ask: '--listen 127.0.0.1:9464', as its 'gannet work' has it.")
        }
        self.address = address
        isReadinessAsked = arguments.isSet(Self.ready)
        console = Console(try LogOptions(arguments))
    }

    func run() async throws -> ExitStatus {
        let path = isReadinessAsked ? "/readyz" : "/healthz"
        let status = try await EndpointQuestion.status(of: address.url + path, within: Self.bound)
        guard status == 200 else {
            throw CommandFailure(.unavailable, "The worker at \(address.url) answers \(status) to \(path).")
        }
        console.detail("well: 200 to \(path) at \(address.url)")
        return .done
    }
}
