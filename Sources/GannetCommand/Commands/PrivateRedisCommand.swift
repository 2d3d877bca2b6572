/// `gannet redis stop`
struct PrivateRedisStopCommand: Command {
    static let spec = CommandSpec(
        "stop", summary: "Stop the private Redis now. Its data stays.",
        discussion: "While other commands use it, this one asks first. A run or a worker that goes on starts it again.",
        flags: [Confirmation.yes.entry] + CommonFlags.everywhere,
        examples: [
            Example("gannet redis stop", "Stops the private Redis, if it runs.")
        ])

    private let arguments: Arguments
    private let console: Console

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        console = Console(try LogOptions(arguments))
    }

    func run() async throws -> ExitStatus {
        let stop = try await PrivateRedis.stop(.current) { users in
            try Confirmation(arguments, of: "The private Redis is in use by \(users)").ask(
                "The private Redis is in use by \(users). Stop it?", console)
        }
        switch stop {
        case .wasNotRunning: console.note("The private Redis was not running.")
        case .stopped(wasInUse: false): console.note("Stopped the private Redis.")
        case .stopped(wasInUse: true): console.note("Stopped the private Redis, though other commands were using it.")
        case .stays: break
        }
        return .done
    }
}
