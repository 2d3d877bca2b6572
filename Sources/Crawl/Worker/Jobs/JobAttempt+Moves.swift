internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// Moves a job's request from host to host: at each host that a redirect leads to, the request needs a place. The request of a job that
/// obeys sites needs the permission of each URL that a redirect leads to.
///
/// While it waits for one, the request has none: two hosts that redirect to each other would block each other else. But a host whose URLs
/// all redirect to a busy host would fill its worker with waiting requests. So only some requests of a worker wait, each for a limited time.
/// The jobs of the others come back later.
extension JobAttempt: HopGate {
    var asksAtEachHop: Bool { job.manners.obeys }

    func admits(_ hop: NextHop) async -> Bool {
        // The request for the rules is one to that host, and has its place like any other.
        if hop.isElsewhere { guard await getsPlace(at: hop.to.host) else { return false } }
        guard let refusal = await refusal(of: hop.to, claimed: nil, after: hop) else { return true }
        return refuse(refusal)
    }

    /// Asks for a place until there is one, or until the patience ends. False also if the lease was lost or the task was cancelled. The transfer's
    /// own error says so then.
    private func getsPlace(at host: String) async -> Bool {
        var patience = PlacePatience(throttled: state.withLock { $0.job.throttled })
        var isWaiting = false
        defer { if isWaiting { runner.hopWaits.leave() } }
        do throws(StateError) {
            while true {
                let opensIn: Duration?
                switch try await move(to: host) {
                case .there:
                    runner.activity.moved(job.token, to: host)
                    return true
                case .lost: return false
                case .hopeless: return refuse(hopeless(host))
                case .full(let time): opensIn = time
                }
                if !isWaiting { isWaiting = runner.hopWaits.enter() }
                switch patience.next(opensIn: opensIn, mayWait: isWaiting, random: .random(in: 0...1)) {
                case .wait(let pause): do { try await Task.sleep(for: pause) } catch { return false }
                case .giveUp(let pause): return refuse(result(.atFullHost(host, pause: pause)))
                }
            }
        } catch {
            return error.isCancellation ? false : refuse(result(.broken(error)))
        }
    }

    /// The machine's number of places differs from Redis' while the call is under way.
    private func move(to host: String) async throws(StateError) -> Passage {
        let job = state.withLock { $0.job }
        let partition = runner.queue.cluster.partition(of: host).index
        runner.tell(.asksForPlace(job.token, job.id, partition: partition))
        do throws(StateError) {
            let passage = try await runner.queue.move(job, to: host, usual: runner.options.hostRule, lease: runner.options.lease)
            runner.tell(.moved(job.token, job.id, partition: partition, passage))
            return passage
        } catch {
            runner.tell(.moved(job.token, job.id, partition: partition, nil))
            throw error
        }
    }

    @inline(never) private func hopeless(_ host: String) -> AttemptResult {
        let detail = "a redirect leads to \(host), which is given up for now, because it does not answer"
        return result(.refused(FetchError(kind: .connect, url: job.url, detail: detail), host: .none))
    }

    /// The request may not follow its redirect, for this reason.
    private func refuse(_ reason: AttemptResult) -> Bool {
        state.withLock { $0.refusal = reason }
        return false
    }
}

/// How many of a worker's requests wait for a place at a host that a redirect leads to: a fourth of them may.
final class HopWaits: Sendable {
    private let most: Int
    private let count = Mutex(0)

    init(places: Int) { most = max(1, places / 4) }

    /// False where too many wait.
    func enter() -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
