internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// Moves a job's request from host to host: at each host that a redirect leads to, the request needs a place. The request of a job that
/// obeys sites needs the permission of each URL that a redirect leads to.
///
/// While it waits for one, the request has none: two hosts that redirect to each other would block each other else. But a host whose URLs
/// all redirect to a busy host would fill its worker with waiting requests. So only some requests of a worker wait, each for a limited time.
/// The jobs of the others come back later.
final class HostMoves: HopGate {
    /// Why a request could not follow a redirect.
    enum End: Sendable {
        /// The host has no free place. The job should come back after this time.
        case putOff(host: String, Duration)
        /// The host is given up, because it does not answer.
        case hopeless(host: String)
        case failed(StateError)
        /// The site does not permit the URL, or its rules are not known.
        case barred(JobAttempt.Bar)
    }

    private struct State {
        /// The job for which the request is made. Another one may adopt the transfer.
        var job: Job
        /// The partition of the host where the request has a place, if that is not the URL's own.
        var elsewhere: Int?
        var end: End?
    }

    private let queue: FetchQueue
    private let usual: HostRule
    private let lease: Duration
    private let activity: WorkerActivity
    private let waits: HopWaits
    /// The sites whose permission is needed; nil for a job that obeys none.
    private let sites: Sites?
    private let paces: Paces
    private let tell: @Sendable (WorkerMachine.Input) -> Void
    private let state: Mutex<State>
    /// The activity knows the request by the token of its first job.
    private let first: LockToken

    init(
        of job: Job, queue: FetchQueue, usual: HostRule, lease: Duration, activity: WorkerActivity, waits: HopWaits,
        sites: Sites?, paces: Paces, tell: @escaping @Sendable (WorkerMachine.Input) -> Void
    ) {
        self.queue = queue
        self.usual = usual
        self.lease = lease
        self.activity = activity
        self.waits = waits
        self.sites = sites
        self.paces = paces
        self.tell = tell
        first = job.token
        state = Mutex(State(job: job))
    }

    /// Why a host was refused; `nil` also if the lease was lost or the task was cancelled.
    var end: End? { state.withLock { $0.end } }

    var asksAtEachHop: Bool { sites != nil }

    func admits(_ hop: NextHop) async -> Bool {
        // The request for the rules is one to that host, and has its place like any other.
        if hop.isElsewhere { guard await admits(hop.to.hostName) else { return false } }
        let url = state.withLock { $0.job.url }
        guard let bar = await JobAttempt.Bar(to: hop.to, of: sites, paces, for: url, claimed: nil, after: hop) else { return true }
        note(.barred(bar))
        return false
    }

    private func admits(_ host: String) async -> Bool {
        var patience = PlacePatience(throttled: state.withLock { $0.job.throttled })
        var isWaiting = false
        defer { if isWaiting { waits.leave() } }
        while true {
            do throws(StateError) {
                switch try await move(to: host) {
                case .there:
                    activity.moved(first, to: host)
                    return true
                case .lost: return false
                case .hopeless:
                    note(.hopeless(host: host))
                    return false
                case .full(let opensIn):
                    if !isWaiting { isWaiting = waits.enter() }
                    switch patience.next(opensIn: opensIn, mayWait: isWaiting, random: .random(in: 0...1)) {
                    case .wait(let pause): do { try await Task.sleep(for: pause) } catch { return false }
                    case .giveUp(let pause):
                        note(.putOff(host: host, pause))
                        return false
                    }
                }
            } catch {
                if error.isCancellation { return false }
                note(.failed(error))
                return false
            }
        }
    }

    private func move(to host: String) async throws(StateError) -> Passage {
        let job = state.withLock { $0.job }
        let partition = queue.cluster.partition(of: host).index
        // The worker's number of places differs from Redis' while the call is under way.
        tell(.asksForPlace(job.token, job.id, partition: partition))
        let passage: Passage
        do throws(StateError) {
            passage = try await queue.move(job, to: host, usual: usual, lease: lease)
        } catch {
            // The place may have been given. Redis takes back what the worker does not name.
            tell(.gotNoPlace(job.token, job.id, partition: partition))
            throw error
        }
        guard passage == .there else {
            tell(.gotNoPlace(job.token, job.id, partition: partition))
            if case .full = passage { gavePlacesUp(job, at: partition) }
            return passage
        }
        tell(.gotPlace(job.token, job.id, partition: partition))
        let left = state.withLock { state in
            let before = state.elsewhere
            state.elsewhere = partition == job.partition ? nil : partition
            return before == state.elsewhere ? nil : before
        }
        if let left { tell(.leftPlace(place(of: job, in: left, .answered))) }
        if partition != job.partition { tell(.gavePlaceUp(job.token, job.id, partition: job.partition)) }
        return passage
    }

    /// Tells the machine which places the request has no more: a full host's answer gives up all of them.
    private func gavePlacesUp(_ job: Job, at partition: Int) {
        let elsewhere = state.withLock { state in
            defer { state.elsewhere = nil }
            return state.elsewhere
        }
        tell(.gavePlaceUp(job.token, job.id, partition: job.partition))
        guard let elsewhere else { return }
        if elsewhere == partition {
            tell(.gavePlaceUp(job.token, job.id, partition: partition))
        } else {
            tell(.leftPlace(place(of: job, in: elsewhere, .answered)))
        }
    }

    /// The transfer goes on for another job of its URL, under that job's token.
    func adopt(_ job: Job) {
        let (before, left) = state.withLock { state in
            defer { (state.job, state.elsewhere) = (job, nil) }
            return (state.job, state.elsewhere)
        }
        if let left { tell(.leftPlace(place(of: before, in: left, .none))) }
    }

    /// The request has ended. The answer is the place that it had in another partition.
    func leave(_ host: Settlement.HostNews) -> Conclusion.Place? {
        let (job, left) = state.withLock { state in
            defer { state.elsewhere = nil }
            return (state.job, state.elsewhere)
        }
        return left.map { place(of: job, in: $0, host) }
    }

    private func place(of job: Job, in partition: Int, _ host: Settlement.HostNews) -> Conclusion.Place {
        Conclusion.Place(partition: partition, settlement: Settlement(job.token, job.id, .leftPlace, host: host))
    }

    private func note(_ end: End) { state.withLock { $0.end = end } }
}
