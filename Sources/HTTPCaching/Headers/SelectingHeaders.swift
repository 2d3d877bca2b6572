internal import HTTPEngine

/// The request headers by which an origin chose its answer: what `Vary` names (RFC 9110, section 12.5.5).
package struct SelectingHeaders: Sendable, Hashable {
    /// In small letters, in alphabetical order, each once.
    package let names: [String]

    /// More than any sensible answer varies by; each multiplies the variants that are kept.
    package static let maximumCount = 16

    package static let none = SelectingHeaders(names: [])

    private init(names: [String]) { self.names = names }

    /// Why it cannot be told to which requests an answer belongs.
    enum Problem: Error, Hashable {
        /// `*`, or something that is no name.
        case anything
        case tooMany
    }

    /// Reads all lines of `Vary`.
    ///
    /// `Accept-Encoding` is left out: bodies are kept unpacked, and the engine always asks for the same encodings.
    init(_ lines: [String]) throws(Problem) {
        try self.init(unordered: lines.flatMap { HeaderList($0).members }.map { $0.lowercased() })
    }

    /// What selects where several answers were needed, one after the other: redirects and what they led to.
    func union(_ other: Self) throws(Problem) -> Self { try Self(unordered: names + other.names) }

    /// For names that were kept.
    init?(kept names: [String]) {
        guard let selecting = try? Self(unordered: names), selecting.names == names else { return nil }
        self = selecting
    }

    private init(unordered all: [String]) throws(Problem) {
        guard all.allSatisfy({ $0 != "*" && $0.utf8.count <= 256 && !$0.isEmpty && $0.utf8.allSatisfy(\.isTokenByte) }) else {
            throw .anything
        }
        let names = Set(all).subtracting(["accept-encoding"])
        guard names.count <= Self.maximumCount else { throw .tooMany }
        self.names = names.sorted()
    }
}
