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
    private let watch: AresChannel.SocketWatch
    private var current: [Route: AresChannel] = [:]
    private var retired: [AresChannel] = []

    init(_ configuration: ResolverConfiguration, timeout: Duration, watch: @escaping AresChannel.SocketWatch) {
        self.configuration = configuration
        self.watch = watch
        (wait, rounds) = configuration.schedule(timeout: timeout)
    }

    /// Queries whose replies have not been taken.
    private(set) var outstanding = 0

    private var channels: [AresChannel] { Array(current.values) + retired }

    /// False when there is no memory.
    func ask(_ question: LookUp.Question, for lookUp: RunningLookUps.Entry?, at now: Instant) -> Bool {
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
                    rounds: rounds, at: now, watch: watch)
        else { return false }
        current[route] = channel
        outstanding += 1
        channel.ask(question, for: lookUp)
        return true
    }

    /// Handles a socket that is ready, if it is one of this pool's.
    func act(on socket: Int32, reads: Bool, writes: Bool) -> Bool {
        guard let channel = channels.first(where: { $0.owns(socket) }) else { return false }
        channel.process(reading: reads ? socket : -1, writing: writes ? socket : -1)
        return true
    }

    /// Ends queries whose time is over.
    func tick() {
        for channel in channels where channel.outstanding > 0 { channel.process() }
    }

    func takeReplies() -> [AresChannel.Reply] {
        let replies = channels.flatMap { $0.takeReplies() }
        outstanding -= replies.count
        retired.removeAll { $0.outstanding == 0 }
        return replies
    }
}
