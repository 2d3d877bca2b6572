/// One row of the flag table, whatever its value's type: what parsing, help, error texts and completions are made from.
package struct FlagEntry: Sendable {
    package enum Form: Sendable {
        /// Present or absent.
        case toggle
        case value(placeholder: String, completion: Completion, check: @Sendable (String) throws(InvalidValue) -> Void)
    }

    /// Without dashes: `max-body`.
    package let name: String
    package let short: Character?
    package let form: Form
    package let summary: String
    /// Read by the same parser as a typed value, so that help cannot name another default than the one in force.
    package let defaultText: String?
    package let isRequired: Bool
    package let isRepeatable: Bool
    /// Between several values in the environment; no value has one in it.
    package let separator: Character
    /// Given twice it is refused: of others the last one counts, but here the first would be missed.
    package let isOnce: Bool
    /// A value that is never shown in an error.
    package let isSecret: Bool
    package let section: FlagSection
    /// False for a name that is promised but refused in this version.
    package let isAvailable: Bool
    package let isHidden: Bool

    package init(
        name: String, short: Character? = nil, form: Form, summary: String, defaultText: String? = nil, isRequired: Bool = false,
        isRepeatable: Bool = false, separator: Character = ",", isOnce: Bool = false, isSecret: Bool = false,
        section: FlagSection = .options, isAvailable: Bool = true,
        isHidden: Bool = false
    ) {
        self.name = name
        self.short = short
        self.form = form
        self.summary = summary
        self.defaultText = defaultText
        self.isRequired = isRequired
        self.isRepeatable = isRepeatable
        self.separator = separator
        self.isOnce = isOnce
        self.isSecret = isSecret
        self.section = section
        self.isAvailable = isAvailable
        self.isHidden = isHidden
    }

    /// A name that a later version will know: using it is refused with a sentence of its own, so that a script written for
    /// that version fails clearly here.
    package static func later(_ name: String) -> FlagEntry {
        FlagEntry(name: name, form: .toggle, summary: "", isAvailable: false, isHidden: true)
    }

    package static let help = FlagEntry(name: "help", short: "h", form: .toggle, summary: "Show help information.", section: .common)
    package static let version = FlagEntry(name: "version", form: .toggle, summary: "Show the version.", section: .common)

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
}

/// Under which heading help lists an option.
package enum FlagSection: String, Sendable, CaseIterable {
    case options = "OPTIONS"
    case fetching = "FETCH OPTIONS"
    case redis = "REDIS OPTIONS"
    case common = "COMMON OPTIONS"
}
