/// A value of an option, and where it is from. An option with several values has as many settings.
package struct Setting: Sendable, Hashable {
    package let option: String
    /// Without control characters and secrets. Nil where the option has neither a value nor a default.
    package let value: String?
    /// Nil for the default.
    package let origin: Arguments.Origin?

    private static let longest = 1000

    init(_ entry: FlagEntry, _ given: Arguments.Given?) {
        option = entry.name
        origin = given?.origin
        let isToggle = if case .toggle = entry.form { true } else { false }
        let text = given?.text ?? entry.defaultText ?? (isToggle ? "false" : nil)
        value = text.map { entry.secrecy == .whole ? "•••" : Sentence.shown($0, limit: Self.longest) }
    }
}
