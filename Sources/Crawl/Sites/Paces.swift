internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The paces of hosts, as far as this worker knows reasons for them: a `Crawl-delay`, and slow answers where it adapts to these.
///
/// Redis keeps the pace, and hands out the jobs of all workers by it. A job that was handed out before has to ask.
final class Paces: Sendable {
    private struct Known {
        /// The delays for which the origins of the host ask.
        var asked: [String: Duration] = [:]
        /// How long its answers take, the latest counting most.
        var average: Duration?
        var told = HostPace.none
        var toldAt: ContinuousClock.Instant?
        /// Queue time, ms. Jobs that were handed out later have the pace.
        var since = Int.max

        var pace: HostPace { HostPace(atLeast: max(asked.values.max() ?? .zero, average ?? .zero)) }
    }

    private let queue: FetchQueue
    let adapts: Bool
    private let hosts = Mutex<[String: Known]>([:])

    /// Redis forgets a host that nobody asked for in an hour.
    private static let toldFor = Duration.seconds(600)
    private static let mostHosts = 20_000
    private static let mostOrigins = 8
    /// A single slow answer changes little.
    private static let weight = 0.2
    /// A change of an eighth is not worth a call.
    private static let leastChange = 2

    /// - Parameter adapts: Whether hosts get a request a time as their answers take, on average.
    init(_ queue: FetchQueue, adapts: Bool) {
        self.queue = queue
        self.adapts = adapts
    }

    /// Notes what an origin asks for, and whether a job may start at its host.
    /// - Parameters:
    ///   - delay: `Crawl-delay`; nil without one.
    ///   - claimed: When the job was handed out, in queue time; nil for a request that takes its place at the host later.
    /// - Returns: False for a job that goes back, and is handed out when its turn comes.
    func permits(_ delay: Duration?, of origin: CanonicalURL, claimed: Int?) async throws(StateError) -> Bool {
        let (host, now) = (origin.host, ContinuousClock.now)
        let question = hosts.withLock { hosts -> (HostPace, starts: Bool)? in
            guard delay != nil || hosts[host] != nil else { return nil }
            var known = Self.take(host, &hosts)
            defer { hosts[host] = known }
            if known.asked[origin.plainOrigin] != nil || known.asked.count < Self.mostOrigins { known.asked[origin.plainOrigin] = delay }
            let isTold = known.told == known.pace || adapts && abs(known.told.step - known.pace.step) < Self.leastChange
            let isKept = known.pace == .none || known.toldAt.map { now - $0 < Self.toldFor } ?? false
            let starts = known.pace != .none && claimed.map { $0 <= known.since } ?? false
            return isTold && isKept && !starts ? nil : (known.pace, starts)
        }
        guard let question else { return true }
        return try await tell(question.0, of: host, starts: question.starts, at: now)
    }

    /// Notes how long an answer took.
    func answered(_ host: String, after time: Duration) {
        guard adapts else { return }
        hosts.withLock { hosts in
            var known = Self.take(host, &hosts)
            known.average = known.average.map { $0 + (time - $0) * Self.weight } ?? time
            hosts[host] = known
        }
    }

    /// A worker with very many hosts forgets what it knows of them, and learns it again.
    private static func take(_ host: String, _ hosts: inout [String: Known]) -> Known {
        if hosts.count >= mostHosts, hosts[host] == nil { hosts.removeAll() }
        return hosts[host] ?? Known()
    }

    private func tell(
        _ pace: HostPace, of host: String, starts: Bool, at now: ContinuousClock.Instant
    ) async throws(StateError) -> Bool {
        let answer = try await queue.set(pace, of: host, starts: starts)
        hosts.withLock { hosts in
            guard var known = hosts[host] else { return }
            // A host whose pace only changed has handed out nothing without one.
            if answer.before == .none || known.since == .max { known.since = answer.now }
            (known.told, known.toldAt) = (pace, now)
            hosts[host] = known
        }
        return !starts || answer.wait == .zero
    }
}
