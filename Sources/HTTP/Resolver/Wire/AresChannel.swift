import CAres

/// One c-ares channel: some sockets, and the queries that have been sent from them. Lives on one thread; nobody but `watch` is called back.
final class AresChannel {
    /// Hears of the events that a socket waits for from now on. Without any, it is about to be closed.
    typealias SocketWatch = (_ socket: Int32, _ reads: Bool, _ writes: Bool) -> Void

    struct Reply {
        /// Nil for a query that tests the servers.
        let lookUp: RunningLookUps.Entry?
        let question: LookUp.Question
        let content: QueryOutcome
    }

    /// The context of a query.
    private final class Query {
        /// Nil when the channel is being freed: nobody waits for the reply.
        weak var channel: AresChannel?
        let lookUp: RunningLookUps.Entry?
        let question: LookUp.Question

        init(_ channel: AresChannel, _ lookUp: RunningLookUps.Entry?, _ question: LookUp.Question) {
            (self.channel, self.lookUp, self.question) = (channel, lookUp, question)
        }
    }

    let start: ContinuousClock.Instant
    /// How many queries were ever sent with it.
    private(set) var asked = 0
    /// Queries that have not ended.
    private(set) var outstanding = 0
    private var sockets: Set<Int32> = []
    private var replies: [Reply] = []
    private let watch: SocketWatch
    private var channel: OpaquePointer?

    /// c-ares wants to be set up once in a process, before its first use.
    private static let isLibraryReady = gannet_ares_start() != 0

    /// Nil when there is no memory.
    /// - Parameters:
    ///   - servers: In the order in which they are to be asked.
    ///   - wait: For the first answer; each round waits twice as long as the one before.
    init?(
        servers: [NameServer], overTCP: Bool, wait: Duration, rounds: Int, at now: ContinuousClock.Instant, watch: @escaping SocketWatch
    ) {
        start = now
        self.watch = watch
        var opened: OpaquePointer?
        let list = servers.map(\.text).joined(separator: ",")
        guard Self.isLibraryReady,
            gannet_ares_open(
                &opened, list, overTCP ? 1 : 0, Int32(wait.milliseconds), Int32(rounds), socketChanged,
                Unmanaged.passUnretained(self).toOpaque()) == 0
        else { return nil }
        channel = opened
    }

    deinit {
        // Ends open queries, and closes the sockets.
        if let channel { ares_destroy(channel) }
    }

    func ask(_ question: LookUp.Question, for lookUp: RunningLookUps.Entry?) {
        asked += 1
        outstanding += 1
        // The root has no name, and c-ares wants it written as one dot.
        ares_query(
            channel, question.name.isEmpty ? "." : question.name, 1, Int32(question.type.rawValue), queryEnded,
            Unmanaged.passRetained(Query(self, lookUp, question)).toOpaque())
    }

    func owns(_ socket: Int32) -> Bool { sockets.contains(socket) }

    /// Reads and writes without waiting, and ends queries whose time is over.
    func process(reading: Int32 = -1, writing: Int32 = -1) { ares_process_fd(channel, reading, writing) }

    func takeReplies() -> [Reply] {
        guard !replies.isEmpty else { return [] }
        defer { replies = [] }
        return replies
    }

    fileprivate func socket(_ number: Int32, reads: Bool, writes: Bool) {
        if reads || writes { sockets.insert(number) } else { sockets.remove(number) }
        watch(number, reads, writes)
    }

    fileprivate static func ended(_ pointer: UnsafeMutableRawPointer, _ outcome: gannet_ares_outcome, _ message: UnsafeRawBufferPointer) {
        let query = Unmanaged<Query>.fromOpaque(pointer).takeRetainedValue()
        guard let channel = query.channel else { return }
        let content: QueryOutcome =
            switch outcome {
            case gannet_ares_answered: DNSMessage.reply(in: message, type: query.question.type)
            case gannet_ares_silent: .silence
            case gannet_ares_no_memory: .outOfMemory
            default: .unreachable
            }
        channel.outstanding -= 1
        channel.replies.append(Reply(lookUp: query.lookUp, question: query.question, content: content))
    }
}

/// For c-ares: the end of a query.
func queryEnded(
    _ query: UnsafeMutableRawPointer?, _ status: Int32, _ timeouts: Int32, _ message: UnsafeMutablePointer<UInt8>?, _ length: Int32
) {
    guard let query else { return }
    let bytes = UnsafeRawBufferPointer(start: message, count: message == nil ? 0 : Int(length))
    AresChannel.ended(query, gannet_ares_outcome(status, message, length), bytes)
}

/// For c-ares: the events a socket waits for from now on; none when it is about to be closed.
func socketChanged(_ channel: UnsafeMutableRawPointer?, _ number: Int32, _ reads: Int32, _ writes: Int32) {
    guard let channel else { return }
    Unmanaged<AresChannel>.fromOpaque(channel).takeUnretainedValue().socket(number, reads: reads != 0, writes: writes != 0)
}
