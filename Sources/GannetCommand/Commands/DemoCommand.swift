import CommandLineKit
import Gannet
import GannetBasics

/// `gannet demo`: the promise, shown in some seconds and without a network.
enum DemoCommand: Command {
    static let spec = CommandSpec(
        "demo", summary: "Watch three workers fetch a small site on this machine; one of them is killed on the way.",
        flags: CommonFlags.everywhere)

    static func options(from arguments: Arguments) throws(UsageError) -> LogOptions { try LogOptions(arguments) }

    static func run(_ log: LogOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(log)
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-demo-\(UInt32.random(in: .min ... .max))").path
        guard mkdir(home, 0o700) == 0 else {
            throw CommandFailure(.cannotWrite, "The folder \(home) cannot be made: \(Descriptor.message(errno)).")
        }
        defer { try? FileManager.default.removeItem(atPath: home) }
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let demo = Demo(console)
            let outcome = await interruption.cancelling { try await demo.course(home: home) }
            return try outcome.get(unlessInterrupted: interruption) ?? interruption.status
        }
    }
}
