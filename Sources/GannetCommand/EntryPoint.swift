internal import CMalloc
import Dispatch
import GannetBase
import GannetHTTP

/// The program: table → arguments → command → exit status.
@main
struct EntryPoint {
    /// Not asynchronous: otherwise the runtime would open descriptors of its own before the first line.
    static func main() {
        // One thread allocates and another frees what a request needs. With an arena for each thread, free memory of one is of no use to another.
        mallopt(M_ARENA_MAX, 2)
        // A worker that is stopped in its first moment ends like any other. Its pipe for signals must not take the number of a standard
        // descriptor that is closed, so signals wait until these are open.
        let keepsSignals = CommandLine.argc > 1 && CommandLine.unsafeArgv[1].map { strcmp($0, "work") == 0 } ?? false
        if keepsSignals { Signals.hold() }
        StandardDescriptors.occupy()
        if keepsSignals {
            SignalTrap.keepSignals()
            Signals.release()
        }
        // Threads that still work when the process ends must not find the library's parts gone.
        CryptoLibrary.stayToTheEnd()
        // A pipe closed early (`| head`) must arrive as an error from `write`, not end the process in mid-sentence.
        Signals.ignoreBrokenPipes()
        Signals.quitAsUsual()
        let words: [String]
        do {
            words = try Self.words()
            try DescriptorLimit.raised().check()
        } catch {
            exit(tell(error, on: Console(LogOptions(guessedFrom: [], environment: Surroundings.current.environment))).rawValue)
        }
        // Help, the version and a usage error need no task, and so none of the runtime's threads.
        switch begin(words) {
        case .ended(let status): exit(status.rawValue)
        case .runs(let arguments, let console):
            Task { exit(await run(arguments, console).rawValue) }
            dispatchMain()
        }
    }

    /// Runs a command line within these surroundings, and returns the exit status.
    static func run(_ words: [String], in surroundings: Surroundings) async -> ExitStatus {
        await Surroundings.$current.withValue(surroundings) {
            switch begin(words) {
            case .ended(let status): status
            case .runs(let arguments, let console): await run(arguments, console)
            }
        }
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

    private enum Beginning {
        case ended(ExitStatus)
        case runs(Arguments, Console)
    }

    private static func begin(_ words: [String]) -> Beginning {
        let surroundings = Surroundings.current
        let environment = surroundings.environment
        let console = Console(LogOptions(guessedFrom: words, environment: environment))
        do {
            let width = Terminal(surroundings.output)?.size.columns ?? Terminal.Size.usual.columns
            let outcome = try CommandTable.parser.parse(
                words, environment: environment,
                configuration: { named throws(UsageError) in try ConfigurationPlace(environment).content(named: named) }, width: width)
            switch outcome {
            case .help(let text):
                try console.print(text)
                return .ended(.done)
            case .version:
                try console.print("gannet \(Version.current)")
                return .ended(.done)
            case .command(let arguments): return .runs(arguments, (try? LogOptions(arguments)).map { Console($0) } ?? console)
            }
        } catch {
            return .ended(tell(error, on: console))
        }
    }

    private static func run(_ arguments: Arguments, _ console: Console) async -> ExitStatus {
        do {
            return try await arguments.spec.run(arguments)
        } catch {
            return tell(error, on: console)
        }
    }

    /// Prints an error, and answers the exit status that it means.
    private static func tell(_ error: any Error, on console: Console) -> ExitStatus {
        if let error = error as? UsageError {
            console.error(error)
            return .wrongUsage
        }
        let failure = CommandFailure(error)
        if let message = failure.message { console.error(message) }
        return failure.status
    }
}
