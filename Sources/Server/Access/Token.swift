internal import GannetBase
package import GannetHTTP

/// A secret that a client shows, and how much its holder may ask for.
package struct Token: Sendable {
    /// For messages and metrics; the secret itself is never printed.
    package let name: String
    let digest: [UInt8]
    /// Requests of its holders at a time.
    package let atOnce: Int
    /// Requests of its holders a second; nil for no such limit.
    package let perSecond: Int?

    package static let usualAtOnce = 256
    private static let shortest = 16

    /// - Throws: A sentence, where the secret is too easy to guess.
    package init(_ secret: String, name: String, atOnce: Int = Token.usualAtOnce, perSecond: Int? = nil) throws(InvalidOptions) {
        guard secret.utf8.count >= Self.shortest, secret.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw InvalidOptions(
                "The token '\(name)' needs \(Self.shortest) or more visible ASCII characters: 'openssl rand -hex 32' makes a good one.")
        }
        self.name = name
        digest = SHA256Digest(of: secret.utf8).bytes
        self.atOnce = atOnce
        self.perSecond = perSecond
    }

    /// The token with this secret. The time that it takes says nothing of the secrets, because all digests are compared whole.
    static func find(_ secret: String, in tokens: [Token]) -> Int? {
        let shown = SHA256Digest(of: secret.utf8).bytes
        var found: Int?
        for (index, token) in tokens.enumerated() {
            if areEqual(token.digest, shown) { found = index }
        }
        return found
    }

    /// Compares bytes in a time that says nothing of where they differ.
    static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        // In Swift, `|` and `^` bind alike. Without the parentheses one wrong secret in 270 is taken for the right one.
        one.count == other.count && zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Reads a file of tokens: on each line a secret, and behind it `name=`, `at-once=` and `per-second=` where they are wanted. A line that
    /// begins with `#` says nothing.
    package static func list(_ text: String) throws(InvalidOptions) -> [Token] {
        var tokens: [Token] = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let secret = words.first, secret.first != "#" else { continue }
            var (name, atOnce, perSecond) = ("line \(number + 1)", usualAtOnce, Int?.none)
            for word in words.dropFirst() {
                let pair = word.split(separator: "=", maxSplits: 1)
                let value = pair.count == 2 ? Int(pair[1]).flatMap { 1...1_000_000 ~= $0 ? $0 : nil } : nil
                switch (pair.first, value) {
                case ("name", _) where pair.count == 2: name = String(pair[1])
                case ("at-once", let value?): atOnce = value
                case ("per-second", let value?): perSecond = value
                default:
                    throw InvalidOptions(
                        "Line \(number + 1): behind a token stand name=…, at-once=… and per-second=…, whole numbers up to a million.")
                }
            }
            tokens.append(try Token(String(secret), name: name, atOnce: atOnce, perSecond: perSecond))
        }
        guard !tokens.isEmpty else { throw InvalidOptions("There is no token in it.") }
        guard Set(tokens.map(\.digest)).count == tokens.count else { throw InvalidOptions("A token is in it twice.") }
        return tokens
    }
}

/// How much the holders of a token have under way, and have asked for in the last second. A struct without a clock.
struct TokenUse {
    private(set) var underWay = 0
    /// Requests that may come at once now; it fills up with time.
    private var allowance: Double
    private var seen: ContinuousClock.Instant?

    init(_ token: Token) { allowance = Double(token.perSecond ?? 0) }

    enum Verdict: Equatable {
        case goes
        case tooManyAtOnce
        case tooMany(next: Duration)
    }

    mutating func begin(_ token: Token, at now: ContinuousClock.Instant) -> Verdict {
        if underWay >= token.atOnce { return .tooManyAtOnce }
        if let rate = token.perSecond {
            if let seen { allowance = min(Double(rate), allowance + (now - seen) / .seconds(1) * Double(rate)) }
            seen = now
            if allowance < 1 { return .tooMany(next: .seconds((1 - allowance) / Double(rate))) }
            allowance -= 1
        }
        underWay += 1
        return .goes
    }

    mutating func end() { underWay -= 1 }
}
