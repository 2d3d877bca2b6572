internal import GannetBase
internal import GannetHTTP

/// The places of one transfer: one at its host, and one of all.
///
/// They are always taken in that order, and both are given back before the transfer waits for another host. So a transfer that waits for a
/// host holds nothing, and transfers cannot wait for each other in a circle.
final class TransferPlaces: HopGate {
    /// The places of a process.
    struct Gates: Sendable {
        let all: DownloadGate
        /// The process' own limit at each host. Where processes share the places of hosts, it holds while these are unknown.
        let hosts: HostGates?
        let shared: (any SharedHosts)?
        /// At each host one transfer at a time asks for a shared place. The others wait behind it, by priority.
        let turns = HostGates(limit: 1)

        var areForHosts: Bool { hosts != nil || shared != nil }
    }

    private struct State {
        /// Gives up the place at the host; nil while the transfer has no places.
        var leaveHost: LeaveHost?
        var refusal: FetchError?
    }

    private let gates: Gates
    private let priority: ChangingPriority
    private let wait: HostWait
    private let state = Mutex(State())

    init(_ gates: Gates, _ priority: ChangingPriority, _ wait: HostWait) {
        self.gates = gates
        self.priority = priority
        self.wait = wait
    }

    /// Why a host has no place for the transfer; nil also when the task was cancelled.
    var refusal: FetchError? { state.withLock { $0.refusal } }

    /// Waits for the places of a transfer to the host. Returns `false` when the task is cancelled before, or the host has no place.
    func enter(_ host: String) async -> Bool {
        guard let leaveHost = await enterHost(host) else { return false }
        guard await gates.all.enter(priority) else {
            await leaveHost(FetchError(kind: .cancelled, url: ""))
            return false
        }
        state.withLock { $0.leaveHost = leaveHost }
        return true
    }

    private func enterHost(_ host: String) async -> LeaveHost? {
        if let shared = gates.shared {
            let since = ContinuousClock.now
            guard await gates.turns.enter(host, priority) else { return nil }
            let answer = await shared.enter(host, since: since, wait)
            wait.note(nil)
            gates.turns.leave(host)
            switch answer {
            case .entered(let leave): return leave
            case .refused(let error):
                state.withLock { $0.refusal = error }
                return nil
            case .cancelled: return nil
            case .unavailable: break
            }
        }
        guard let hosts = gates.hosts else { return { _ in } }
        guard await hosts.enter(host, priority) else { return nil }
        return { _ in hosts.leave(host) }
    }

    func admits(_ hop: NextHop) async -> Bool {
        // A host that redirects has answered.
        await leave(after: nil)
        return await enter(hop.to.host)
    }

    /// - Parameter error: How the request at the host failed; nil where the host has answered.
    func leave(after error: FetchError?) async {
        guard let leaveHost = state.withLock({ $0.leaveHost.take() }) else { return }
        gates.all.leave()
        await leaveHost(error)
    }
}
