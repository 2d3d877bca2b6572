/// A password that cannot be printed by accident: descriptions, mirrors and dumps show only that there is one.
package struct RedisSecret: Sendable, Equatable, ExpressibleByStringLiteral {
    private let value: String

    package init(_ value: String) { self.value = value }
    package init(stringLiteral value: String) { self.value = value }

    /// The password itself, for the one place that sends it.
    func reveal() -> String { value }

    /// `text` with every occurrence of the password replaced, since servers quote commands back in their errors.
    func scrub(_ text: String) -> String {
        guard !value.isEmpty, text.utf8.count >= value.utf8.count else { return text }
        var result = ""
        var rest = Substring(text)
        while let found = rest.firstRange(of: value) {
            result += rest[..<found.lowerBound]
            result += "•••"
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}

extension RedisSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "•••" }
    package var debugDescription: String { "•••" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
