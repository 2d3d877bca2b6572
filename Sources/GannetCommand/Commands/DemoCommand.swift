import GannetBase

/// `gannet demo`: the promise, shown in some seconds and without a network.
struct DemoCommand: Command {
    static let spec = CommandSpec(
        "demo", summary: "Watch three workers fetch a small site on this machine; one of them is killed on the way.",
        flags: CommonFlags.everywhere,
        examples: [
            Example("gannet demo", "Takes some seconds, and needs no network.")
        ])

    private let console: Console

    init(_ arguments: Arguments) throws { console = Console(try LogOptions(arguments)) }

    func run() async throws -> ExitStatus {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-demo-\(UInt32.random(in: .min ... .max))").path
        guard mkdir(home, 0o700) == 0 else {
            throw CommandFailure(.cannotWrite, "The folder \(home) cannot be made: \(Descriptor.message(errno)).")
        }
        defer { try? FileManager.default.removeItem(atPath: home) }
        let interruption = try Interruption()
        return try await interruption.watching {
            let outcome = await interruption.cancelling { try await Demo(console).run(home: home) }
            return try outcome.get(unlessInterrupted: interruption) ?? interruption.status
        }
    }
}
