internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

/// One job's way from host to host: at each that a redirect leads to, its request needs a place, as at its own.
///
/// Until there is one it keeps the place it has, so that a host whose URLs all lead to a busy one does not fill its worker with requests that
/// wait. Two hosts that lead to each other could hold each other's places that way; it gives up in time, and the job comes back.
final class HostMoves: HopGate {
    /// Why its request ended on the way.
    enum End: Sendable {
        /// A host has no room; the job had better come back after this time.
        case putOff(host: String, Duration)
        /// A host is given up.
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

    /// Why it was not let go on, if that is so.
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
