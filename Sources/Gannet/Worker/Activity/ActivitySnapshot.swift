package import ClusterState

/// A worker's requests by host, at one moment.
package struct ActivitySnapshot: Sendable {
    /// The time over which ended requests are counted.
    package let interval: Duration
    package let hosts: [HostLoad]

    /// The hosts that hold the worker up, the slowest first.
    package func slowest(_ count: Int) -> [HostLoad] {
        Array(hosts.sorted { ($0.slowness, $1.name) > ($1.slowness, $0.name) }.prefix(count))
    }

    /// The hosts with the most requests in flight, and lately.
    func busiest(_ count: Int) -> [HostLoad] {
        Array(hosts.sorted { ($0.running, $0.finished, $1.name) > ($1.running, $1.finished, $0.name) }.prefix(count))
    }

    /// Some of the busiest and some of the slowest.
    func notable(_ count: Int) -> [HostLoad] {
        let busy = busiest(count)
        let slow = slowest(count / 2).filter { host in !busy.prefix(count / 2).contains { $0.name == host.name } }
        return busy.prefix(count - slow.count) + slow
    }
}
