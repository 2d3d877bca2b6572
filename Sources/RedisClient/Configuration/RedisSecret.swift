/// A password that cannot be printed by accident: descriptions, mirrors and dumps show only that there is one.
package struct RedisSecret: Sendable, Equatable, ExpressibleByStringLiteral {
    private let value: String

    package init(_ value: String) { self.value = value }
    package init(stringLiteral value: String) { self.value = value }

    /// The password itself, for the one place that sends it.
    func reveal() -> String { value }

    /// `text` with every occurrence of the password replaced, since servers quote commands back in their errors. They cut long
    /// arguments, so its beginning alone counts too. Bytes are compared: a character of the text that follows could merge with the
    /// password's last one.
    func scrub(_ text: String) -> String {
        let secret = Array(value.utf8)
        let bytes = Array(text.utf8)
        let telling = Array(secret.prefix(Self.tellingBytes))
        guard !secret.isEmpty, bytes.count >= telling.count else { return text }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let found = rest.firstRange(of: telling) {
            result += rest[..<found.lowerBound]
            result += Array("•••".utf8)
            let common = zip(rest[found.lowerBound...], secret).prefix { $0 == $1 }.count
            rest = rest[(found.lowerBound + common)...]
        }
        return result.isEmpty ? text : String(decoding: result + rest, as: UTF8.self)
    }

    /// A beginning this long gives a password away.
    private static let tellingBytes = 6
}

extension RedisSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "•••" }
    package var debugDescription: String { "•••" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
