import CAres

/// One c-ares channel: some sockets, and the queries that have been sent from them. Lives on one thread; nobody is called back.
final class AresChannel {
    let traffic = AresTraffic()
    let start: ContinuousClock.Instant
    /// How many queries were ever sent with it.
    private(set) var asked = 0
    private let channel: OpaquePointer

    /// Nil when there is no memory.
    /// - Parameters:
    ///   - servers: In the order in which they are to be asked.
    ///   - wait: For the first answer; each round waits twice as long as the one before.
    init?(servers: [NameServer], overTCP: Bool, wait: Duration, rounds: Int, at now: ContinuousClock.Instant) {
        var channel: OpaquePointer?
        let list = servers.map(\.text).joined(separator: ",")
        guard AresLibrary.isReady,
            gannet_ares_open(
                &channel, list, overTCP ? 1 : 0, Int32(wait.milliseconds), Int32(rounds), socketChanged,
                Unmanaged.passUnretained(traffic).toOpaque()) == 0,
            let channel
        else { return nil }
        self.channel = channel
        start = now
    }

    deinit {
        // Ends what is open, which still goes to `traffic`.
        ares_destroy(channel)
    }

    func ask(_ question: LookUp.Question, for serial: UInt64) {
        asked += 1
        // The root has no name, and c-ares wants it written as one dot.
        ares_query(
            channel, question.name.isEmpty ? "." : question.name, 1, Int32(question.type.rawValue), queryEnded,
            traffic.open(question, for: serial))
    }

    /// Reads and writes what is ready without waiting, and sees to queries whose time is over.
    func process(_ ready: ResolverDescriptor? = nil) {
        ares_process_fd(channel, ready.map { $0.reads ? $0.number : -1 } ?? -1, ready.map { $0.writes ? $0.number : -1 } ?? -1)
    }
}
