/// `gannet health`: asks a worker or a gateway how it is. Container engines check health by running a program.
struct HealthCommand: Command {
    private static let worker = Flag(
        "listen", .listenAddress,
        "The address to ask: the '--listen' of a 'gannet work' or 'gannet run', or the '--bind' of a 'gannet serve' without TLS.")
    private static let ready = Toggle("ready", "Ask whether the worker can take jobs, rather than whether it is alive.")

    static let spec = CommandSpec(
        "health",
        summary: "Ask a worker or a gateway on this machine how it is.",
        discussion: "The exit status is 0 when all is well, and 69 when it is not or nobody answers.",
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
            throw arguments.usageError("Name the address to ask: '--listen 127.0.0.1:9464', as its 'gannet work' has it.")
        }
        self.address = address
        isReadinessAsked = arguments.isSet(Self.ready)
        console = Console(try LogOptions(arguments))
    }

    func run() async throws -> ExitStatus {
        let path = isReadinessAsked ? "/readyz" : "/healthz"
        let status = try await EndpointQuestion.status(of: address.url + path, within: Self.bound)
        guard status == 200 else {
            throw CommandFailure(.unavailable, "\(address.url) answers \(status) to \(path).")
        }
        console.detail("well: 200 to \(path) at \(address.url)")
        return .done
    }
}
