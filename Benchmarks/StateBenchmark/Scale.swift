/// How much is measured.
struct Scale {
    /// Jobs that are enqueued and finished at each number of hosts.
    let jobs: Int
    let manyHosts: Int

    /// How many jobs wait while claims are timed.
    let depths: [Int]
    let deepest: Int
    let followers: Int

    /// Jobs of hosts that cool down, at the head of the line, and how many hosts those are.
    let cooling: Int
    let coolingHosts: Int
    let samples: Int

    init(divisor: Int) {
        jobs = 1_000_000 / divisor
        manyHosts = 100_000 / divisor
        deepest = 10_000_000 / divisor
        depths = [10, 10_000, deepest]
        followers = 1_000_000 / divisor
        cooling = 1_000_000 / divisor
        coolingHosts = 1000 / min(divisor, 10)
        samples = 2000 / min(divisor, 10)
    }
}
