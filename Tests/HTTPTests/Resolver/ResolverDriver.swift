import CCurl
import GannetTestKit
import Glibc

@testable import GannetHTTP

/// Sockets, and the events that they wait for or are ready for.
typealias Sockets = [Int32: (reads: Bool, writes: Bool)]

/// Plays the engine's thread for a resolver: waits for its sockets, by itself or in libcurl as the engine does, and passes on the ready ones.
final class ResolverDriver {
    let resolver: Resolver
    private(set) var outcomes: [UInt64: Resolution] = [:]
    /// When each came, since the driver was made.
    private(set) var times: [UInt64: Duration] = [:]
    private let start = ContinuousClock.now
    private let multi: UnsafeMutableRawPointer?
    private let watched: Watched
    private var nextID: UInt64 = 0

    /// A resolver that asks the servers and nobody else, and knows no hosts file.
    init(_ servers: DNSServer..., inLibcurl: Bool = false, options change: (inout ResolverOptions) -> Void = { _ in }) throws {
        multi = inLibcurl ? curl_multi_init() : nil
        var options = ResolverOptions()
        options.servers = servers.map(\.address)
        options.hostsFile = "/dev/null"
        options.ipv6 = .never
        options.timeout = .seconds(2)
        change(&options)
        let watched = Watched()
        self.watched = watched
        resolver = try Resolver(options) { socket, reads, writes in
            watched.sockets[socket] = reads || writes ? (reads: reads, writes: writes) : nil
        }
    }

    deinit { curl_multi_cleanup(multi) }

    /// The resolver's sockets.
    var sockets: Sockets { watched.sockets }

    private final class Watched { var sockets: Sockets = [:] }

    /// Asks for a name and returns the id under which the outcome is noted.
    func ask(_ host: String) -> UInt64 {
        nextID += 1
        if let known = resolver.resolve(host, for: nextID) { note(nextID, known) }
        collect()
        return nextID
    }

    /// Asks for a name and waits for the outcome.
    func resolve(_ host: String) -> Resolution? {
        let id = ask(host)
        run { self.outcomes[id] != nil }
        return outcomes[id]
    }

    /// Asks for names in one moment and waits for all outcomes.
    func resolve(all hosts: [String]) -> [Resolution?] {
        let ids = hosts.map(ask)
        run { ids.allSatisfy { self.outcomes[$0] != nil } }
        return ids.map { outcomes[$0] }
    }

    /// Plays the loop until the condition holds, or for as long as no test should take.
    @discardableResult
    func run(atMost limit: Duration = .seconds(30), until isDone: () -> Bool) -> Bool {
        let end = ContinuousClock.now + limit
        while !isDone() {
            guard .now < end else { return false }
            turn(until: end)
        }
        return true
    }

    private func turn(until end: ContinuousClock.Instant) {
        let wake = min(resolver.deadline ?? end, end)
        let milliseconds = Int32(max(.zero, wake - .now).milliseconds)
        for (socket, events) in multi.map({ waitInLibcurl($0, milliseconds) }) ?? wait(milliseconds) {
            resolver.act(on: socket, reads: events.reads, writes: events.writes)
        }
        resolver.process()
        collect()
    }

    private func wait(_ milliseconds: Int32) -> Sockets {
        var waits = sockets.map { socket, events in
            pollfd(fd: socket, events: (events.reads ? Int16(POLLIN) : 0) | (events.writes ? Int16(POLLOUT) : 0), revents: 0)
        }
        poll(&waits, nfds_t(waits.count), milliseconds)
        return waits.filter { $0.revents != 0 }.reduce(into: [:]) { ready, wait in
            ready[wait.fd] = (reads: wait.revents & ~Int16(POLLOUT) != 0, writes: wait.revents & ~Int16(POLLIN) != 0)
        }
    }

    private func waitInLibcurl(_ multi: UnsafeMutableRawPointer, _ milliseconds: Int32) -> Sockets {
        var waits = sockets.map { socket, events in
            curl_waitfd(
                fd: socket, events: Int16((events.reads ? CURL_WAIT_POLLIN : 0) | (events.writes ? CURL_WAIT_POLLOUT : 0)), revents: 0)
        }
        curl_multi_poll(multi, &waits, UInt32(waits.count), milliseconds, nil)
        return waits.filter { $0.revents != 0 }.reduce(into: [:]) { ready, wait in
            ready[wait.fd] = (
                reads: wait.revents & Int16(CURL_WAIT_POLLIN) != 0, writes: wait.revents & Int16(CURL_WAIT_POLLOUT) != 0
            )
        }
    }

    private func collect() {
        for (id, resolution) in resolver.takeFinished() { note(id, resolution) }
    }

    private func note(_ id: UInt64, _ resolution: Resolution) {
        precondition(outcomes[id] == nil, "an outcome came twice")
        outcomes[id] = resolution
        times[id] = .now - start
    }
}

/// The addresses a text names, as an outcome.
func found(_ addresses: String...) -> Resolution {
    .success(addresses.map { IPAddress($0)! })
}
