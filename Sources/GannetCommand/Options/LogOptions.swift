import CommandLineKit

/// How much is said on standard error, and in what form.
struct LogOptions: Sendable, Equatable {
    var verbosity = Verbosity.normal
    var format = LogFormat.text

    private static let format = Flag(
        "log-format", .choice("format", of: LogFormat.allCases.map(\.rawValue)), default: LogFormat.text.rawValue, section: .common,
        "What is said on standard error: 'text' for people, or 'json', an object a line.")

    static let flag = format.entry

    init(_ verbosity: Verbosity = .normal, _ format: LogFormat = .text) {
        self.verbosity = verbosity
        self.format = format
    }

    init(_ arguments: Arguments) throws(UsageError) {
        verbosity = try Verbosity(arguments)
        format = LogFormat(rawValue: try arguments.require(Self.format)) ?? .text
    }

    /// For what is said of a command line that cannot be read as a whole: what its words, or else the environment, ask for.
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
