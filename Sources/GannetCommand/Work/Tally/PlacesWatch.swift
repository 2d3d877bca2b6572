import Gannet

/// Notices that slow hosts hold nearly all of a worker's places while as many other jobs wait for one: a struct without a clock.
struct PlacesWatch: Sendable {
    /// Requests that the worker makes at once at most.
    let places: Int

    private var since: ContinuousClock.Instant?

    /// A request that takes as long is a slow one.
    private static let slow = Duration.seconds(5)
    private static let share = 0.9
    /// Shorter than that it may be chance.
    private static let patience = Duration.seconds(5)

    init(places: Int) { self.places = places }

    /// - Parameter waiting: Jobs that could be taken if there were a place.
    /// - Returns: How many places slow hosts have held for some seconds; `nil` where they hold few, or few wait for them.
    mutating func look(at activity: ActivitySnapshot, waiting: Int, now: ContinuousClock.Instant) -> Int? {
        let held = activity.hosts.filter { $0.slowness >= Self.slow }.reduce(0) { $0 + $1.running }
        guard places > 0, waiting >= places, Double(held) >= Double(places) * Self.share else {
            since = nil
            return nil
        }
        let began = since ?? now
        since = began
        return now - began >= Self.patience ? min(held, places) : nil
    }
}
