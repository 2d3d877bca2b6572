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
        // Ends open queries, which still report to `traffic`.
        ares_destroy(channel)
    }

    func ask(_ question: LookUp.Question, for serial: UInt64) {
        asked += 1
        // The root has no name, and c-ares wants it written as one dot.
        ares_query(
            channel, question.name.isEmpty ? "." : question.name, 1, Int32(question.type.rawValue), queryEnded,
            traffic.open(question, for: serial))
    }

    /// Reads and writes without waiting, and ends queries whose time is over.
    func process(_ ready: ResolverDescriptor? = nil) {
        ares_process_fd(channel, ready.map { $0.reads ? $0.number : -1 } ?? -1, ready.map { $0.writes ? $0.number : -1 } ?? -1)
    }
}

/// The sockets and answers of one channel, as c-ares reports them. It outlives the channel while c-ares may still report.
final class AresTraffic {
    struct Reply {
        let serial: UInt64
        let question: LookUp.Question
        let content: QueryOutcome
    }

    /// The channel's sockets.
    fileprivate(set) var descriptors: [ResolverDescriptor] = []
    /// Queries that have not ended.
    private(set) var outstanding = 0
    private var replies: [Reply] = []

    /// The context of a query.
    private final class Query {
        let traffic: AresTraffic
        let serial: UInt64
        let question: LookUp.Question

        init(_ traffic: AresTraffic, _ serial: UInt64, _ question: LookUp.Question) {
            self.traffic = traffic
            self.serial = serial
            self.question = question
        }
    }

    /// The pointer to give to c-ares with a query; it must come back, once, to `queryEnded`.
    func open(_ question: LookUp.Question, for serial: UInt64) -> UnsafeMutableRawPointer {
        outstanding += 1
        return Unmanaged.passRetained(Query(self, serial, question)).toOpaque()
    }

    func takeReplies() -> [Reply] {
        guard !replies.isEmpty else { return [] }
        defer { replies = [] }
        return replies
    }

    fileprivate func socket(_ number: Int32, reads: Bool, writes: Bool) {
        descriptors.removeAll { $0.number == number }
        if reads || writes { descriptors.append(ResolverDescriptor(number: number, reads: reads, writes: writes)) }
    }

    fileprivate static func ended(_ pointer: UnsafeMutableRawPointer, _ outcome: gannet_ares_outcome, _ message: UnsafeRawBufferPointer) {
        let query = Unmanaged<Query>.fromOpaque(pointer).takeRetainedValue()
        let content: QueryOutcome =
            switch outcome {
            case gannet_ares_answered: DNSMessage.reply(in: message, type: query.question.type)
            case gannet_ares_silent: .silence
            case gannet_ares_no_memory: .outOfMemory
            default: .unreachable
            }
        query.traffic.outstanding -= 1
        query.traffic.replies.append(Reply(serial: query.serial, question: query.question, content: content))
    }
}

/// For c-ares: the end of a query.
func queryEnded(
    _ query: UnsafeMutableRawPointer?, _ status: Int32, _ timeouts: Int32, _ message: UnsafeMutablePointer<UInt8>?, _ length: Int32
) {
    guard let query else { return }
    let bytes = UnsafeRawBufferPointer(start: message, count: message == nil ? 0 : Int(length))
    AresTraffic.ended(query, gannet_ares_outcome(status, message, length), bytes)
}

/// For c-ares: the events a socket waits for from now on; none when it is about to be closed.
func socketChanged(_ traffic: UnsafeMutableRawPointer?, _ number: Int32, _ reads: Int32, _ writes: Int32) {
    guard let traffic else { return }
    Unmanaged<AresTraffic>.fromOpaque(traffic).takeUnretainedValue().socket(number, reads: reads != 0, writes: writes != 0)
}

/// c-ares wants to be set up once in a process, before its first use.
enum AresLibrary {
    static let isReady = gannet_ares_start() != 0
}

/// A descriptor of the resolver, and the events it waits for or is ready for.
struct ResolverDescriptor: Hashable {
    let number: Int32
    var reads: Bool
    var writes: Bool
}
