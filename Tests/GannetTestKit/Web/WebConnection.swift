/// A connection of a client to a host of a made-up web: the bytes that came, and the answer that goes out.
final class WebConnection {
    var stream: WebStream
    /// Never used again, unlike the descriptor: an answer may come due after its connection has ended.
    let number: Int
    let host: Int

    private var received: [UInt8] = []
    private var read = 0

    /// The request in flight: its place in the record.
    var request: Int?
    var reply: WebAnswer.Reply?
    var isSending = false
    private(set) var keeps = true
    private(set) var isHead = false
    /// The events that epoll watches it for.
    var interest: UInt32 = 0

    private var head: [UInt8] = []
    private var headSent = 0
    private var source = UnsafeRawBufferPointer(start: nil, count: 0)
    private var position = 0
    private var bodyLeft = 0
    private(set) var bytesSent = 0

    /// The most bytes of one body in a turn, so that no large body keeps other hosts waiting.
    static let turn = 1 << 20

    init(_ stream: WebStream, number: Int, host: Int) {
        self.stream = stream
        self.number = number
        self.host = host
    }

    /// False when the client has sent more than any client needs to.
    func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if read == received.count {
            received.removeAll(keepingCapacity: true)
            read = 0
        }
        received.append(contentsOf: bytes)
        return received.count - read <= WebRequestHead.longest * 4
    }

    /// The next request; nil while it is not complete.
    func nextRequest() -> WebPath? {
        guard let head = WebRequestHead(received, from: read) else { return nil }
        read += head.length
        keeps = head.keepsConnection
        isHead = head.isHead
        bytesSent = 0
        return head.path
    }

    func startSending(_ head: [UInt8], _ source: UnsafeRawBufferPointer, from position: Int, count: Int, keeps: Bool) {
        self.head = head
        headSent = 0
        self.source = source
        self.position = position
        bodyLeft = isHead ? 0 : count
        isSending = true
        if !keeps { self.keeps = false }
    }

    /// More of a body that has no end.
    func extend(by count: Int) { bodyLeft += count }

    /// Sends until the answer is out, the kernel takes no more, or the turn is over. Nil when all is out.
    func send() -> WebStream.Result? {
        var inTurn = 0
        while headSent < head.count || bodyLeft > 0 {
            if inTurn >= Self.turn { return .wantsWrite }
            let place = source.isEmpty ? 0 : position % source.count
            let part = UnsafeRawBufferPointer(rebasing: source[place..<min(source.count, place + bodyLeft)])
            let result = head.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[headSent...]), part) }
            guard case .bytes(let count) = result else { return result }
            let ofHead = min(count, head.count - headSent)
            headSent += ofHead
            position += count - ofHead
            bodyLeft -= count - ofHead
            bytesSent += count
            inTurn += count
        }
        return nil
    }
}
