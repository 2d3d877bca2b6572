import CommandLineKit
import Foundation

/// The program: table → arguments → command → exit status.
@main
struct EntryPoint {
    /// Not asynchronous: the runtime would open descriptors of its own before the first line.
    static func main() {
        StandardDescriptors.occupy()
        // A pipe closed early (`| head`) must arrive as an error from `write`, not end the process in mid-sentence.
        Signals.ignoreBrokenPipes()
        Signals.quitAsUsual()
        do throws(CommandFailure) {
            try DescriptorLimit.raised().check()
        } catch {
            if let message = error.message { Console().error(message) }
            exit(error.status.rawValue)
        }
        Task {
            let status = await run(Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
            exit(status.rawValue)
        }
        dispatchMain()
    }

    static func run(_ words: [String], environment: [String: String]) async -> ExitStatus {
        let console = Console()
        do {
            switch try CommandTable.parser.parse(words, environment: environment) {
            case .help(let text):
                try console.print(text)
                return .done
            case .version:
                try console.print("gannet \(Version.current)")
                return .done
            case .command(let arguments):
                return try await CommandTable.run(arguments)
            }
        } catch let error as UsageError {
            console.error(text: error.text)
            return .wrongUsage
        } catch let failure as CommandFailure {
            if let message = failure.message { console.error(message) }
            return failure.status
        } catch {
            console.error("Unexpected error: \(error). This is a defect of gannet; please report it.")
            return .defect
        }
    }
}
