/// The channels to the name servers of one configuration.
///
/// A channel sends from one port, tells its queries apart by two bytes, and looks at all of them at times. So each serves for a moment or for a
/// thousand queries, and then only finishes its open ones. A forged answer has to hit a port that changes, and queries without an answer do
/// not slow down the others.
final class NameServerPool {
    typealias Instant = ContinuousClock.Instant

    private struct Route: Hashable {
        let server: Int
        let overTCP: Bool
    }

    static let maximumQueries = 1000
    static let maximumAge: Duration = .seconds(10)

    let configuration: ResolverConfiguration
    private let wait: Duration
    private let rounds: Int
    private var current: [Route: AresChannel] = [:]
    private var retired: [AresChannel] = []

    init(_ configuration: ResolverConfiguration, timeout: Duration) {
        self.configuration = configuration
        (wait, rounds) = configuration.schedule(timeout: timeout)
    }

    /// Queries whose replies have not been taken.
    private(set) var outstanding = 0

    var descriptors: [ResolverDescriptor] { channels.flatMap(\.traffic.descriptors) }

    private var channels: [AresChannel] { Array(current.values) + retired }

    /// False when there is no memory.
    func ask(_ question: LookUp.Question, for serial: UInt64, at now: Instant) -> Bool {
        let servers = configuration.servers
        // A look-up that began with an earlier configuration may know of more servers.
        let first = question.server % servers.count
        let route = Route(server: first, overTCP: question.overTCP)
        if let channel = current[route], channel.asked >= Self.maximumQueries || now - channel.start >= Self.maximumAge {
            retired.append(channel)
            current[route] = nil
        }
        guard
            let channel = current[route]
                ?? AresChannel(
                    servers: Array(servers[first...] + servers[..<first]), overTCP: question.overTCP, wait: wait,
                    rounds: rounds, at: now)
        else { return false }
        current[route] = channel
        outstanding += 1
        channel.ask(question, for: serial)
        return true
    }

    /// Handles a descriptor that is ready, if it is one of this pool's.
    func process(_ ready: ResolverDescriptor) -> Bool {
        guard let channel = channels.first(where: { $0.traffic.descriptors.contains { $0.number == ready.number } }) else { return false }
        channel.process(ready)
        return true
    }

    /// Ends queries whose time is over.
    func tick() {
        for channel in channels where channel.traffic.outstanding > 0 { channel.process() }
    }

    func takeReplies() -> [AresTraffic.Reply] {
        let replies = channels.flatMap { $0.traffic.takeReplies() }
        outstanding -= replies.count
        retired.removeAll { $0.traffic.outstanding == 0 }
        return replies
    }
}
