internal import FetchCache
internal import GannetBasics

/// So many at a time at each host. Only hosts with somebody at them are remembered.
final class HostGates: Sendable {
    private struct Host {
        let gate: DownloadGate
        var users = 0
    }

    private let limit: Int
    private let hosts = Mutex<[String: Host]>([:])

    /// - Parameter limit: At least one.
    init(limit: Int) { self.limit = limit }

    /// Runs `body` when there is a place at the host; returns `nil` when the task is cancelled before.
    func within<Value: Sendable>(_ host: String, _ body: () async -> Value) async -> Value? {
        let gate = hosts.withLock { hosts in
            hosts[host, default: Host(gate: DownloadGate(places: limit))].users += 1
            return hosts[host]?.gate
        }
        defer {
            hosts.withLock { hosts in
                hosts[host]?.users -= 1
                if hosts[host]?.users == 0 { hosts[host] = nil }
            }
        }
        return await gate?.within { await body() }
    }
}
