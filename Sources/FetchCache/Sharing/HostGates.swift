internal import GannetBasics
internal import HTTPEngine

/// Limits how many downloads run at a time at each host. Only hosts with downloads are remembered.
package final class HostGates: Sendable {
    private struct Host {
        let gate: DownloadGate
        var users = 0
    }

    private let limit: Int
    private let hosts = Mutex<[String: Host]>([:])

    /// - Parameter limit: At least one.
    package init(limit: Int) { self.limit = limit }

    /// Runs `body` when there is a place at the host. Returns `nil` when the task is cancelled before.
    package func within<Value: Sendable>(_ host: String, _ body: () async -> Value) async -> Value? {
        guard await enter(host, ChangingPriority(.normal)) else { return nil }
        defer { leave(host) }
        return await body()
    }

    /// Waits for a place at the host. Returns `false` when the task is cancelled before.
    func enter(_ host: String, _ priority: ChangingPriority) async -> Bool {
        let gate = hosts.withLock { hosts in
            hosts[host, default: Host(gate: DownloadGate(places: limit))].users += 1
            return hosts[host]?.gate
        }
        guard let gate, await gate.enter(priority) else {
            forget(host)
            return false
        }
        return true
    }

    func leave(_ host: String) {
        hosts.withLock { $0[host]?.gate }?.leave()
        forget(host)
    }

    private func forget(_ host: String) {
        hosts.withLock { hosts in
            hosts[host]?.users -= 1
            if hosts[host]?.users == 0 { hosts[host] = nil }
        }
    }
}

/// The places of one transfer: one at its host, and one of all.
///
/// They are always taken in that order, and both are given back before the transfer waits for another host. So a transfer that waits for a
/// host holds nothing, and transfers cannot wait for each other in a circle.
final class TransferPlaces: HopGate {
    private let gate: DownloadGate
    private let hosts: HostGates?
    private let priority: ChangingPriority
    /// The host where this transfer has a place; nil while it has none.
    private let held = Mutex<String?>(nil)

    init(_ gate: DownloadGate, _ hosts: HostGates?, _ priority: ChangingPriority) {
        self.gate = gate
        self.hosts = hosts
        self.priority = priority
    }

    /// Waits for the places of a transfer to the host. Returns `false` when the task is cancelled before.
    func enter(_ host: String) async -> Bool {
        if let hosts, !(await hosts.enter(host, priority)) { return false }
        guard await gate.enter(priority) else {
            hosts?.leave(host)
            return false
        }
        held.withLock { $0 = host }
        return true
    }

    func admits(_ host: String) async -> Bool {
        leave()
        return await enter(host)
    }

    func leave() {
        guard let host = held.withLock({ $0.take() }) else { return }
        gate.leave()
        hosts?.leave(host)
    }
}
