import Testing

/// Two spellings, and by which rule they are one URL or two.
///
/// `WHATWG` is the URL standard, `3986` RFC 3986 by section. The URL standard decides where they differ.
struct URLPair: Sendable, CustomTestStringConvertible {
    let one: String
    let other: String
    let reason: String

    init(_ one: String, _ other: String, _ reason: String) {
        self.one = one
        self.other = other
        self.reason = reason
    }

    var testDescription: String { "\(one.debugDescription) and \(other.debugDescription): \(reason)" }
}
