/// Counts durations in steps. A struct without a clock.
package struct Histogram: Sendable, Equatable {
    /// The upper ends of the steps in rising order. The last step has no upper end.
    package let bounds: [Duration]

    /// The number of durations in each step.
    package private(set) var counts: [Int]
    package private(set) var sum = Duration.zero

    package init(_ bounds: [Duration]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// From 5 ms to 2 minutes: requests to servers near and far.
    package static let ofFetches = Histogram(
        [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000].map { .milliseconds($0) })

    /// From a quarter of a millisecond to 10 seconds: calls to Redis.
    package static let ofCalls = Histogram(
        [250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000].map { .microseconds($0) })

    package mutating func note(_ time: Duration) {
        counts[bounds.firstIndex { time <= $0 } ?? bounds.count] += 1
        sum += time
    }
}

/// How long a worker's requests and its calls to Redis took.
package struct WorkerTimings: Sendable {
    /// Successful and failed requests, each with its redirects.
    package internal(set) var fetches = Histogram.ofFetches
    package internal(set) var failedFetches = Histogram.ofFetches

    /// The exchanges that were answered. A wait for a Redis that is away counts as part of the call.
    package internal(set) var exchanges = Histogram.ofCalls
    /// From the end of a job to Redis' consent.
    package internal(set) var settlements = Histogram.ofCalls
}
