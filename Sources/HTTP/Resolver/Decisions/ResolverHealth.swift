/// Whether the name servers are there at all.
///
/// A name without an answer looks the same as name servers that are gone. So when a look-up has waited for a while, and no answer of any kind
/// has come meanwhile, the servers get a question that every server can answer. It is repeated until an answer comes. When a look-up ends
/// without an answer, the servers are to blame only if they were silent to all of these questions.
struct ResolverHealth {
    typealias Instant = ContinuousClock.Instant

    /// How long it must be quiet before the servers are doubted, and the time between the questions that test them.
    let doubt: Duration
    private var lastAnswer: Instant?
    private var lastProbe: Instant?
    /// When the servers answered again after having been gone.
    private var recovery: Instant?

    /// - Parameter timeout: The time for a look-up. A tenth of it is enough to doubt, and half of it to be sure.
    init(timeout: Duration) {
        doubt = timeout / 10
    }

    /// Any answer to any question, whatever it says.
    mutating func answered(at now: Instant) {
        if let lastProbe, now - (lastAnswer ?? lastProbe) >= doubt * 5 { recovery = now }
        lastAnswer = now
    }

    /// Whether to test the servers now, given when the oldest look-up without an answer began; it counts as done.
    mutating func takeProbe(oldest: Instant, at now: Instant) -> Bool {
        let quiet = [oldest, lastAnswer, lastProbe].compactMap { $0 }.max() ?? now
        guard now - quiet >= doubt else { return false }
        lastProbe = now
        return true
    }

    /// Whether the servers have been silent for so long, to a look-up that began then and to the tests meanwhile, that it is their fault.
    func areGone(since start: Instant, at now: Instant) -> Bool {
        guard let lastAnswer else { return true }
        // A look-up that began while the servers were gone had too little time.
        if let recovery, recovery >= start { return true }
        return lastAnswer < start || now - lastAnswer >= doubt * 5
    }
}
