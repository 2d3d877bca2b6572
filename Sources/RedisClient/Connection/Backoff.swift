/// How long to wait before the next attempt to connect.
struct Backoff {
    let shortest: Duration
    let longest: Duration

    /// A random pause below a bound that doubles with each failure: clients that lost one server together must not come back
    /// together.
    func pause(afterFailures failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(failures, 0), 30)
        let bound = min(longest, shortest * (1 << doublings))
        return bound * Double.random(in: 0...1, using: &random)
    }
}
