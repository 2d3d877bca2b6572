internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

/// Moves a job's request from host to host: at each host that a redirect leads to, the request needs a place.
///
/// While it waits for one, the request keeps the place that it has. Otherwise a host whose URLs all redirect to a busy host would fill its
/// worker with waiting requests. But two hosts that redirect to each other could block each other like this. So a request waits only for
/// a limited time, and then its job comes back later.
final class HostMoves: HopGate {
    /// Why a request could not follow a redirect.
    enum End: Sendable {
        /// The host has no free place. The job should come back after this time.
        case putOff(host: String, Duration)
        /// The host is given up, because it has taken no connection for too long.
        case hopeless(host: String)
        case failed(StateError)
    }

    private let job: Job
    private let queue: FetchQueue
    private let usual: HostRule
    private let activity: WorkerActivity
    private let state = Mutex<End?>(nil)

    init(of job: Job, queue: FetchQueue, usual: HostRule, activity: WorkerActivity) {
        self.job = job
        self.queue = queue
        self.usual = usual
        self.activity = activity
    }

    /// Why a host was refused; `nil` also if the lease was lost or the task was cancelled.
    var end: End? { state.withLock { $0 } }

    func admits(_ host: String) async -> Bool {
        var patience = HopPatience()
        while true {
            do throws(StateError) {
                switch try await queue.move(job.token, to: host, usual: usual) {
                case .there:
                    activity.moved(job.token, to: host)
                    return true
                case .lost: return false
                case .hopeless:
                    note(.hopeless(host: host))
                    return false
                case .full(let opensIn):
                    switch patience.next(opensIn: opensIn, random: .random(in: 0...1)) {
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

    private func note(_ end: End) { state.withLock { $0 = end } }
}
