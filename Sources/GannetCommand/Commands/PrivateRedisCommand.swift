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
        switch try await PrivateRedis.stop(.current) {
        case nil: console.note("The private Redis was not running.")
        case false?: console.note("Stopped the private Redis.")
        case true?: console.note("Stopped the private Redis, though other commands were using it.")
        }
        return .done
    }
}
