import CAres

/// What c-ares has told about one channel. It outlives the channel for as long as c-ares may still speak.
final class AresTraffic {
    struct Reply {
        let serial: UInt64
        let question: LookUp.Question
        let content: QueryOutcome
    }

    /// The channel's sockets, and what each waits for.
    fileprivate(set) var descriptors: [ResolverDescriptor] = []
    /// Queries that have not ended.
    private(set) var outstanding = 0
    private var replies: [Reply] = []

    /// What a query's end needs to know.
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

/// For c-ares: what a socket waits for from now on; for nothing once it is about to be closed.
func socketChanged(_ traffic: UnsafeMutableRawPointer?, _ number: Int32, _ reads: Int32, _ writes: Int32) {
    guard let traffic else { return }
    Unmanaged<AresTraffic>.fromOpaque(traffic).takeUnretainedValue().socket(number, reads: reads != 0, writes: writes != 0)
}
