/// How long a worker's requests and its calls to Redis took.
package struct WorkerTimings: Sendable {
    /// Requests that brought what was asked for, redirects included, and those that did not.
    package internal(set) var fetches = Histogram.ofFetches
    package internal(set) var failedFetches = Histogram.ofFetches

    /// Calls that were answered, the waiting for a Redis that was away included.
    package internal(set) var claims = Histogram.ofCalls
    package internal(set) var settlements = Histogram.ofCalls
}
