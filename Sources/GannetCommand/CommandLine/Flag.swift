/// An option with a value, declared once: its row in the table and its type.
struct Flag<Value: Sendable>: Sendable {
    let entry: FlagEntry
    let type: ValueType<Value>

    init(
        _ name: String, short: Character? = nil, _ type: ValueType<Value>, default defaultText: String? = nil,
        isRequired: Bool = false, isRepeatable: Bool = false, separator: Character = ",", secrecy: Secrecy = .none,
        section: FlagSection = .options, hasVariable: Bool = true, _ summary: String
    ) {
        self.type = type
        entry = FlagEntry(
            name: name, short: short,
            value: (placeholder: type.placeholder, completion: type.completion, check: { _ = try type.parse($0) }),
            summary: summary, defaultText: defaultText, isRequired: isRequired, isRepeatable: isRepeatable,
            separator: separator, secrecy: secrecy, section: section, hasVariable: hasVariable)
    }
}

/// An option without a value.
struct Toggle: Sendable {
    let entry: FlagEntry

    init(
        _ name: String, short: Character? = nil, section: FlagSection = .options, hasVariable: Bool = true,
        _ summary: String
    ) {
        entry = FlagEntry(
            name: name, short: short, summary: summary, section: section, hasVariable: hasVariable)
    }
}

/// One row of the flag table, whatever its value's type: parsing, help, error texts and completions are made from it.
struct FlagEntry: Sendable {
    /// Without dashes: `max-body`.
    var name: String
    var short: Character?
    /// Nil for an option that is present or absent. The check throws for a text that is no value.
    var value: (placeholder: String, completion: Completion, check: @Sendable (String) throws -> Void)?
    var summary: String
    /// Read by the same parser as a typed value, so that help cannot name another default than the one in force.
    var defaultText: String?
    var isRequired = false
    /// Each value counts. An option that is not repeatable takes one value, and a second one is refused.
    var isRepeatable = false
    /// Stands between several values in the environment; no value contains it.
    var separator: Character = ","
    var secrecy = Secrecy.none
    var section = FlagSection.options
    var isHidden = false
    /// An environment variable, or a line of a configuration file, stands in for the option.
    var hasVariable = true

    static let help = FlagEntry(name: "help", short: "h", summary: "Show help information.", section: .general)
    static let version = FlagEntry(name: "version", short: "v", summary: "Show the version.", section: .general)

    /// The option that names a configuration file. A command without it reads none.
    static let configurationName = "config"

    /// The option `--config`, for which no configuration file stands in.
    static func configuration(_ summary: String) -> FlagEntry {
        Flag(configurationName, .file(), section: .general, summary).entry
    }

    /// An option that a command knows only to refuse it with a reason of its own.
    static func refused(_ name: String) -> FlagEntry {
        FlagEntry(name: name, value: (placeholder: "value", completion: .none, check: { _ in }), summary: "", isHidden: true)
    }

    /// A line of a configuration file may set it.
    var isSettable: Bool { !isHidden && hasVariable && name != Self.configurationName }

    /// `--max-body <size>`
    var synopsis: String { "--\(name)" + (value.map { " <\($0.placeholder)>" } ?? "") }

    /// The environment variable that stands in for the option.
    func variable(prefix: String) -> String { prefix + name.uppercased().replacing("-", with: "_") }

    /// As it is typed: `--input`, `-i`.
    var spellings: [String] { ["--\(name)"] + (short.map { ["-\($0)"] } ?? []) }

    /// The line about the option in an error.
    var usage: String? { summary.isEmpty ? nil : "\(synopsis)  \(summary)" }

    /// As help shows it: `-i, --input <file>`.
    var label: String { (short.map { "-\($0), " } ?? "") + synopsis }

    var explanation: String { summary + (defaultText.map { " (default: \($0))" } ?? "") }
}

/// How much of a value may be shown. Errors show a value without secrecy alone.
enum Secrecy: Sendable {
    case none
    /// An address: all but the user and the password in it.
    case user
    case whole
}

/// The headings of options, in the order in which help shows them.
enum FlagSection: String, Sendable, CaseIterable {
    /// Options that the command names as `mostUsed`, whatever their own section.
    case mostUsed = "COMMON OPTIONS"
    case options = "OPTIONS"
    case pictures = "PICTURE OPTIONS"
    case fetching = "FETCH OPTIONS"
    case redis = "REDIS OPTIONS"
    /// Options of every command.
    case general = "GENERAL OPTIONS"
}
