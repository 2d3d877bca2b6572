/// An option with a value, declared once: its row in the table and its type.
package struct Flag<Value: Sendable>: Sendable {
    package let entry: FlagEntry
    package let type: ValueType<Value>

    package init(
        _ name: String, short: Character? = nil, _ type: ValueType<Value>, default defaultText: String? = nil,
        isRequired: Bool = false, isRepeatable: Bool = false, separator: Character = ",", isOnce: Bool = false, isSecret: Bool = false,
        section: FlagSection = .options,
        isHidden: Bool = false, _ summary: String
    ) {
        self.type = type
        entry = FlagEntry(
            name: name, short: short,
            form: .value(
                placeholder: type.placeholder, completion: type.completion,
                check: { (text) throws(InvalidValue) in _ = try type.parse(text) }),
            summary: summary, defaultText: defaultText, isRequired: isRequired, isRepeatable: isRepeatable,
            separator: separator, isOnce: isOnce, isSecret: isSecret, section: section, isHidden: isHidden)
    }
}

/// An option without a value.
package struct Toggle: Sendable {
    package let entry: FlagEntry

    package init(
        _ name: String, short: Character? = nil, section: FlagSection = .options, isHidden: Bool = false, _ summary: String
    ) {
        entry = FlagEntry(name: name, short: short, form: .toggle, summary: summary, section: section, isHidden: isHidden)
    }
}
