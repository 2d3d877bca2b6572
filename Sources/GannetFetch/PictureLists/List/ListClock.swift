/// The time, which a test can keep.
struct ListClock: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// False when the task is cancelled meanwhile.
    var sleep: @Sendable (ContinuousClock.Instant) async -> Bool

    static let system = ListClock(now: { .now }, sleep: { (try? await Task.sleep(until: $0, clock: .continuous)) != nil })
}
