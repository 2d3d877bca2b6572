package import HTTPCaching

/// An answer with its body, as it is kept.
package struct CachedAnswer: Sendable, Hashable {
    package var facts: StoredAnswer
    package var body: [UInt8]

    package init(facts: StoredAnswer, body: [UInt8]) {
        self.facts = facts
        self.body = body
    }

    /// What it takes in memory, or a little more: the body, and what goes with it. An empty body may have 20 KB of headers and URLs.
    var cost: Int { body.count + 1024 + facts.variableSize }

    /// The one that came later.
    static func newer(_ one: Self?, _ other: Self?) -> Self? {
        guard let one, let other else { return one ?? other }
        return one.facts.receivedAt < other.facts.receivedAt ? other : one
    }
}
