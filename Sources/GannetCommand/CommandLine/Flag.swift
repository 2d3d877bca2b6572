/// An option with a value, declared once: its row in the table and its type.
package struct Flag<Value: Sendable>: Sendable {
    package let entry: FlagEntry
    package let type: ValueType<Value>

    package init(
        _ name: String, short: Character? = nil, _ type: ValueType<Value>, default defaultText: String? = nil,
        isRequired: Bool = false, isRepeatable: Bool = false, separator: Character = ",", secrecy: Secrecy = .none,
        section: FlagSection = .options, isHidden: Bool = false, hasVariable: Bool = true, _ summary: String
    ) {
        self.type = type
        entry = FlagEntry(
            name: name, short: short,
            form: .value(placeholder: type.placeholder, completion: type.completion, check: { _ = try type.parse($0) }),
            summary: summary, defaultText: defaultText, isRequired: isRequired, isRepeatable: isRepeatable,
            separator: separator, secrecy: secrecy, section: section, isHidden: isHidden, hasVariable: hasVariable)
    }
}

/// An option without a value.
package struct Toggle: Sendable {
    package let entry: FlagEntry

    package init(
        _ name: String, short: Character? = nil, section: FlagSection = .options, isHidden: Bool = false, hasVariable: Bool = true,
        _ summary: String
    ) {
        entry = FlagEntry(
            name: name, short: short, form: .toggle, summary: summary, section: section, isHidden: isHidden, hasVariable: hasVariable)
    }
}

/// One row of the flag table, whatever its value's type: parsing, help, error texts and completions are made from it.
package struct FlagEntry: Sendable {
    package enum Form: Sendable {
        /// Present or absent.
        case toggle
        case value(placeholder: String, completion: Completion, check: @Sendable (String) throws -> Void)
    }

    /// Without dashes: `max-body`.
    package var name: String
    package var short: Character?
    package var form: Form
    package var summary: String
    /// Read by the same parser as a typed value, so that help cannot name another default than the one in force.
    package var defaultText: String?
    package var isRequired = false
    /// Each value counts. An option that is not repeatable takes one value, and a second one is refused.
    package var isRepeatable = false
    /// Stands between several values in the environment; no value contains it.
    package var separator: Character = ","
    package var secrecy = Secrecy.none
    package var section = FlagSection.options
    package var isHidden = false
    /// An environment variable, or a line of a configuration file, stands in for the option.
    package var hasVariable = true

    static let help = FlagEntry(name: "help", short: "h", form: .toggle, summary: "Show help information.", section: .general)
    static let version = FlagEntry(name: "version", short: "v", form: .toggle, summary: "Show the version.", section: .general)

    /// The option that names a configuration file. A command without it reads none.
    static let configurationName = "config"

    /// The option `--config`, for which no configuration file stands in.
    package static func configuration(_ summary: String) -> FlagEntry {
        Flag(configurationName, .file(), section: .general, summary).entry
    }

    /// An option that a command knows only to refuse it with a reason of its own.
    package static func refused(_ name: String) -> FlagEntry {
        FlagEntry(name: name, form: .value(placeholder: "value", completion: .none, check: { _ in }), summary: "", isHidden: true)
    }

    /// A line of a configuration file may set it.
    var isSettable: Bool { !isHidden && hasVariable && name != Self.configurationName }

    /// `--max-body <size>`
    package var synopsis: String {
        switch form {
        case .toggle: "--\(name)"
        case .value(let placeholder, _, _): "--\(name) <\(placeholder)>"
        }
    }

    /// The environment variable that stands in for the option.
    package func variable(prefix: String) -> String {
        prefix + name.uppercased().replacing("-", with: "_")
    }

    /// The values that a shell may offer; nil for an option without a value.
    var valueCompletion: Completion? {
        switch form {
        case .toggle: nil
        case .value(_, let completion, _): completion
        }
    }

    /// As it is typed: `--input`, `-i`.
    var spellings: [String] { ["--\(name)"] + (short.map { ["-\($0)"] } ?? []) }

    /// The line about the option in an error.
    var usage: String? { summary.isEmpty ? nil : "\(synopsis)  \(summary)" }

    /// As help shows it: `-i, --input <file>`.
    var label: String { (short.map { "-\($0), " } ?? "") + synopsis }

    var explanation: String { summary + (defaultText.map { " (default: \($0))" } ?? "") }
}

/// How much of a value may be shown. Errors show a value without secrecy alone.
package enum Secrecy: Sendable {
    case none
    /// An address: all but the user and the password in it.
    case user
    case whole
}

/// The headings of options, in the order in which help shows them.
package enum FlagSection: String, Sendable, CaseIterable {
    /// Options that the command names as `mostUsed`, whatever their own section.
    case mostUsed = "COMMON OPTIONS"
    case options = "OPTIONS"
    case pictures = "PICTURE OPTIONS"
    case fetching = "FETCH OPTIONS"
    case redis = "REDIS OPTIONS"
    /// Options of every command.
    case general = "GENERAL OPTIONS"
}
