internal import GannetBase

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
