internal import GannetBase
internal import GannetHTTP
package import GannetQueue
internal import Results

/// Counts a worker's requests at each host, and times its calls, for screens and metrics.
package final class WorkerActivity: Sendable {
    private let tally = Mutex(HostTally<LockToken>(at: .now))
    private let times = Mutex((timings: WorkerTimings(), ends: RequestEnds()))
    /// The server that is too full for outcomes.
    private let fullServer = Mutex<String?>(nil)
    private let room = Mutex(StoreRoom.there)
    private let placesNow = Mutex((count: 0, bound: PlacesBound.given))

    package init() {}

    func began(_ token: LockToken, host: String) {
        tally.withLock { $0.began(token, host: host, at: .now) }
    }

    /// A redirect has led the request to another host.
    func moved(_ token: LockToken, to host: String) {
        tally.withLock {
            $0.ended(token, at: .now)
            $0.began(token, host: host, at: .now)
        }
    }

    /// - Parameters:
    ///   - error: The error of a request that failed.
    ///   - time: The time of the whole request, including its redirects to other hosts.
    func ended(_ token: LockToken, _ error: FetchError?, after time: Duration) {
        if error?.kind == .cancelled { return calledOff(token) }
        tally.withLock { $0.ended(token, isBad: error != nil, at: .now) }
        times.withLock {
            $0.ends.note(error?.kind)
            if error == nil { $0.timings.fetches.note(time) } else { $0.timings.failedFetches.note(time) }
        }
    }

    /// A request is not made, because the site's rules could not be had.
    func lacksRules(_ error: FetchError) { times.withLock { $0.ends.note(error.kind) } }

    /// The requests that have ended since the last call.
    func takeEnds() -> RequestEnds {
        times.withLock { times in
            defer { times.ends = RequestEnds() }
            return times.ends
        }
    }

    /// The request is not made, or says nothing about its host.
    func calledOff(_ token: LockToken) { tally.withLock { $0.calledOff(token) } }

    func exchanged(after time: Duration) {
        times.withLock { $0.timings.exchanges.note(time) }
        fullServer.withLock { $0 = nil }
    }

    func exchangeFailed(fullServer server: String?) { fullServer.withLock { $0 = server } }

    func note(_ now: StoreRoom) { room.withLock { $0 = now } }

    /// Bodies wait for somebody to export batches.
    var isHeld: Bool { room.withLock { $0.isHeld } }

    func note(_ places: Places) { placesNow.withLock { $0 = (places.count, places.bound) } }

    /// How many requests the worker may have in flight now, and why not more.
    package var places: (count: Int, bound: PlacesBound) { placesNow.withLock { $0 } }

    /// A sentence about a server or a store that is full; `nil` while there is room.
    package var fullness: String? {
        if let server = fullServer.withLock({ $0 }) { return "Redis at \(server) is full: outcomes wait for room." }
        switch room.withLock({ $0 }) {
        case .there: return nil
        case .limitReached: return "The store for bodies is at its limit: bodies wait for room."
        case .held: return "The store for bodies is at its limit with batches that nobody has exported: no more jobs are taken."
        case .full(let server): return "Redis at \(server) is full: bodies wait for room."
        }
    }

    func settled(after time: Duration) { times.withLock { $0.timings.settlements.note(time) } }

    /// Requests in flight, and those that ended in the last seconds.
    package var snapshot: ActivitySnapshot { tally.withLock { $0.snapshot(at: .now) } }

    package var timings: WorkerTimings { times.withLock { $0.timings } }

    /// Requests in flight now.
    package var inFlight: Int { tally.withLock { $0.inFlight } }
}

extension RequestEnds {
    /// - Parameter failure: `nil` for an answer.
    fileprivate mutating func note(_ failure: FetchError.Kind?) {
        switch failure {
        case .connect, .timeout(.connect), .proxy: unconnected += 1
        case .timeout(.resolve), .dns(.nobodyAnswers): unnamed += 1
        default: reached += 1
        }
    }
}

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
