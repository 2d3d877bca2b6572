/// Whether a queue has lost what it had accepted: its totals only grow, while Redis keeps what it was told. A struct without a clock.
struct LossWatch: Sendable {
    private var accepted = 0
    private(set) var losses = 0

    /// - Returns: What the queue had accepted before, where it knows of less now.
    mutating func note(accepted now: Int) -> Int? {
        let before = accepted
        accepted = now
        guard now < before else { return nil }
        losses += 1
        return before
    }
}
