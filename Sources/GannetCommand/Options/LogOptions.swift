import GannetBase

/// How much is printed on standard error, and in what form.
struct LogOptions: Sendable, Equatable {
    var verbosity = Verbosity.normal
    var format = LogFormat.text

    private static let format = Flag(
        "log-format", .choice("format", of: LogFormat.allCases), default: LogFormat.text.rawValue, section: .general,
        "How messages on standard error are written: 'text' for people, or 'json' with one object a line.")

    static let flag = format.entry

    init(_ verbosity: Verbosity = .normal, _ format: LogFormat = .text) {
        self.verbosity = verbosity
        self.format = format
    }

    init(_ arguments: Arguments) throws {
        verbosity = try Verbosity(arguments)
        format = try arguments.require(Self.format)
    }

    /// For errors about a command line that cannot be read as a whole: a guess from its words, or else from the environment.
    init(guessedFrom words: [String], environment: [String: String]) {
        let asked = words.lastIndex(of: "--log-format").flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
        let joined = words.last { $0.hasPrefix("--log-format=") }?.split(separator: "=").last.map(String.init)
        format = LogFormat(rawValue: asked ?? joined ?? environment["GANNET_LOG_FORMAT"] ?? "") ?? .text
    }
}

enum LogFormat: String, Sendable, CaseIterable {
    case text
    case json
}

/// The options of every command.
enum CommonFlags {
    static let quiet = Toggle("quiet", section: .general, "Print only errors on standard error.")
    static let verbose = Toggle("verbose", section: .general, "Print more on standard error.")

    /// Of the commands that have results to print.
    static let json = Toggle("json", "Print JSON, one object a line.")

    static let everywhere = [quiet.entry, verbose.entry, LogOptions.flag, ConfigurationPlace.flag]
}

/// How much is printed on standard error beside errors.
enum Verbosity: Sendable, Comparable {
    case quiet
    case normal
    case verbose

    init(_ arguments: Arguments) throws {
        let (quiet, verbose) = (arguments.isSet(CommonFlags.quiet), arguments.isSet(CommonFlags.verbose))
        switch (quiet, verbose) {
        case (false, false): self = .normal
        case (true, false): self = .quiet
        case (false, true): self = .verbose
        case (true, true):
            // The option wins over the environment, and that over a file; two of the same kind contradict each other.
            let ranks = [CommonFlags.quiet, CommonFlags.verbose].map { arguments.origin(of: $0.entry)?.rank ?? 0 }
            guard ranks[0] != ranks[1] else { throw arguments.usageError("'--quiet' and '--verbose' contradict each other.") }
            self = ranks[0] > ranks[1] ? .quiet : .verbose
        }
    }
}

/// Asking before something is lost: on a terminal a question, elsewhere only with `--yes`.
struct Confirmation: Sendable {
    static let yes = Toggle("yes", short: "y", "Do not ask.")

    private let isGiven: Bool

    var mustAsk: Bool { !isGiven }

    /// - Parameter what: The loss, for the error where there is no terminal: `'purge' empties a queue`.
    init(_ arguments: Arguments, of what: String) throws {
        isGiven = arguments.isSet(Self.yes)
        guard isGiven || (isatty(Surroundings.current.input) == 1 && isatty(Surroundings.current.errors) == 1) else {
            throw arguments.usageError("\(what), and there is no terminal to ask at: say '--yes' to do it.", about: Self.yes.entry)
        }
    }

    /// Whether to go on. Anything but a yes is a no.
    func ask(_ question: @autoclosure () -> String, _ console: Console) -> Bool {
        if isGiven { return true }
        console.ask(question() + " [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        if ["y", "yes"].contains(answer) { return true }
        console.complain("Nothing was changed.")
        return false
    }
}
