package import GannetQueue

/// A worker's requests by host, at one moment.
package struct ActivitySnapshot: Sendable {
    /// The length of the time for which ended requests are counted.
    package let interval: Duration
    package let hosts: [HostLoad]

    /// The hosts whose requests take longest, the slowest host first.
    package func slowest(_ count: Int) -> [HostLoad] {
        Array(hosts.sorted { ($0.slowness, $1.name) > ($1.slowness, $0.name) }.prefix(count))
    }

    /// The hosts with the most requests in flight; of equal hosts, those with the most ended requests.
    func busiest(_ count: Int) -> [HostLoad] {
        Array(hosts.sorted { ($0.running, $0.finished, $1.name) > ($1.running, $1.finished, $0.name) }.prefix(count))
    }

    /// The busiest hosts, and the slowest of the others.
    func notable(_ count: Int) -> [HostLoad] {
        let busy = busiest(count)
        let slow = slowest(count / 2).filter { host in !busy.prefix(count / 2).contains { $0.name == host.name } }
        return busy.prefix(count - slow.count) + slow
    }
}
