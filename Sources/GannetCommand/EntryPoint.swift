import CommandLineKit
import Dispatch
import GannetBasics

/// The program: table → arguments → command → exit status.
@main
struct EntryPoint {
    /// Not asynchronous: otherwise the runtime would open descriptors of its own before the first line.
    static func main() {
        // A worker that is stopped in its first moment ends like any other. Its pipe for signals must not take the number of a standard
        // descriptor that is closed, so signals wait until these are open.
        let keepsSignals = CommandLine.argc > 1 && CommandLine.unsafeArgv[1].map { strcmp($0, "work") == 0 } ?? false
        if keepsSignals { Signals.hold() }
        StandardDescriptors.occupy()
        if keepsSignals {
            SignalTrap.keepSignals()
            Signals.release()
        }
        // A pipe closed early (`| head`) must arrive as an error from `write`, not end the process in mid-sentence.
        Signals.ignoreBrokenPipes()
        Signals.quitAsUsual()
        let words: [String]
        do {
            words = try Self.words()
            try DescriptorLimit.raised().check()
        } catch {
            let failure = CommandFailure(error)
            if let message = failure.message {
                Console(LogOptions(guessedFrom: [], environment: ProcessInfo.processInfo.environment)).error(message)
            }
            exit(failure.status.rawValue)
        }
        Task {
            let status = await run(words, environment: ProcessInfo.processInfo.environment)
            exit(status.rawValue)
        }
        dispatchMain()
    }

    /// The arguments, unless one is no text: a repaired one would name another file or URL.
    private static func words() throws -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { break }
            guard let word = String(validatingCString: argument) else {
                throw CommandFailure(.wrongUsage, "The argument '\(String(cString: argument))' is not UTF-8.")
            }
            words.append(word)
        }
        return words
    }

    static func run(_ words: [String], environment: [String: String]) async -> ExitStatus {
        var console = Console(LogOptions(guessedFrom: words, environment: environment))
        do {
            let width = Terminal(STDOUT_FILENO, environment: environment)?.size.columns ?? Terminal.Size.usual.columns
            switch try CommandTable.parser.parse(words, environment: environment, width: width) {
            case .help(let text):
                try console.print(text)
                return .done
            case .version:
                try console.print("gannet \(Version.current)")
                return .done
            case .command(let arguments):
                if let log = try? LogOptions(arguments) { console = Console(log) }
                return try await CommandTable.run(arguments)
            }
        } catch let error as UsageError {
            console.error(error)
            return .wrongUsage
        } catch {
            let failure = CommandFailure(error)
            if let message = failure.message { console.error(message) }
            return failure.status
        }
    }
}
