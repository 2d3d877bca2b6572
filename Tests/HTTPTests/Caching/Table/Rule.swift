import Testing

@testable import GannetHTTP

/// A row of the table: what came, how much later somebody asks, what is to be done.
struct Rule: Sendable, CustomTestStringConvertible {
    /// The RFC and its section.
    var section: String
    var sentence: String
    var status: Int
    var answer: [String]
    /// Headers of the request that it came to.
    var request: [String]
    /// Headers of the later request; nil are the same.
    var asks: [String]?
    var url: String
    /// Answers that led on before this one.
    var redirects: [(status: Int, headers: [String])]
    /// Seconds for which the fetch took.
    var took: Double
    var hasImageBody = false
    /// Seconds from its arrival to the later request.
    var after: Double
    var options: LookupOptions
    var policy: FreshnessPolicy
    var outcome: Outcome

    enum Outcome: Sendable, Equatable {
        case fresh
        case stale
        /// Used, and fetched again behind it.
        case staleWhileRevalidate
        /// The origin is asked first.
        case ask
        /// As above, and if that fails the stale one is used.
        case askOrStale
        /// Fetched as if nothing were kept: it belongs to other requests.
        case miss
        case unavailable
        case notKept(StorageDecision.Reason)
    }

    /// A row as the table has it.
    static func row(
        _ section: String, _ sentence: String, _ answer: [String], status: Int = 200, request: [String] = [], asks: [String]? = nil,
        url: String = "https://example.org/a", redirects: [(status: Int, headers: [String])] = [], took: Double = 0,
        after: Double = 0, options: LookupOptions = LookupOptions(), policy: FreshnessPolicy = FreshnessPolicy(), _ outcome: Outcome
    ) -> Rule {
        Rule(
            section: section, sentence: sentence, status: status, answer: answer, request: request, asks: asks, url: url,
            redirects: redirects,
            took: took, after: after, options: options, policy: policy, outcome: outcome)
    }

    var testDescription: String { "\(section): \(sentence)" }

    /// The judgement of the rules. Every answer has an entity tag, so that a stale one can be revalidated.
    func judged() -> Outcome {
        let received = Moment.came
        var exchange = Exchange(
            request: RequestFacts(url: url, headers: HTTPLines.fields(request)), finalURL: url, status: status,
            headers: HTTPLines.headers(answer + ["ETag: \"v1\""]),
            redirects: redirects.map { .init(url: url, status: $0.status, headers: HTTPLines.headers($0.headers)) },
            requestedAt: received - .seconds(took), receivedAt: received)
        exchange.hasImageBody = hasImageBody
        switch StorageDecision(for: exchange, policy: policy) {
        case .refuse(let reason): return .notKept(reason)
        case .keep(let terms):
            let stored = StoredAnswer(exchange, terms: terms, canonicalURL: url, digest: SHA256Digest(of: []), byteCount: 0)
            let later = RequestFacts(url: url, headers: HTTPLines.fields(asks ?? request))
            let decision = LookupDecision(
                stored, for: later, options: options, policy: policy, now: received + .milliseconds((after * 1000).rounded()), random: 0)
            return Outcome(decision)
        }
    }
}

extension Rule.Outcome {
    init(_ decision: LookupDecision) {
        switch decision {
        case .fresh: self = .fresh
        // The table draws nothing that leads to it.
        case .refreshEarly: preconditionFailure("an early refresh without chance")
        case .stale: self = .stale
        case .staleWhileRevalidate: self = .staleWhileRevalidate
        case .revalidate(_, let mayServeStaleOnError): self = mayServeStaleOnError ? .askOrStale : .ask
        case .miss: self = .miss
        case .unavailable: self = .unavailable
        }
    }
}

@Suite struct RuleTests {
    private static let table: [Rule] =
        Rule.storing + Rule.statuses + Rule.varying + Rule.lifetimes + Rule.directives + Rule.guesses + Rule.ages + Rule.staleness
        + Rule.requests
        + Rule.redirected + Rule.configured + Rule.images

    @Test(arguments: table)
    func `an answer is kept and used as the RFC has it`(rule: Rule) {
        #expect(rule.judged() == rule.outcome)
    }
}
