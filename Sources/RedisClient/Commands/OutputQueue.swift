/// Commands on their way to the socket, as a row of byte segments.
///
/// Small commands are framed one after the other into a shared buffer, so that a batch is one write. A large argument becomes a
/// segment of its own that shares the caller's storage: ten megabytes are never copied into a command buffer. Framing is a count
/// and a length in front of each argument; hiredis' formatter could only do it by copying every argument, the large ones included.
struct OutputQueue {
    /// Arguments from this size on are shared, not copied. Below it a copy costs less than another write.
    static let sharedArgumentBytes = 16 << 10

    /// Bytes put in, and bytes written out, since the queue was made: a position in the connection's stream.
    private(set) var appended = 0
    private(set) var written = 0

    private(set) var segments: [[UInt8]] = []
    private var head = 0
    private var headOffset = 0
    private var tail: [UInt8] = []

    var isEmpty: Bool { written == appended }
    var pendingBytes: Int { appended - written }

    /// Frames `command` behind what is already there.
    mutating func append(_ command: RedisCommand) {
        let before = tail.count
        var shared = 0
        var sealed = 0
        tail.append(UInt8(ascii: "*"))
        DecimalDigits.append(command.arguments.count, to: &tail)
        appendLineEnd()
        for argument in command.arguments {
            tail.append(UInt8(ascii: "$"))
            switch argument {
            case .string(var text):
                DecimalDigits.append(text.utf8.count, to: &tail)
                appendLineEnd()
                text.withUTF8 { tail.append(contentsOf: $0) }
            case .bytes(let bytes):
                DecimalDigits.append(bytes.count, to: &tail)
                appendLineEnd()
                if bytes.count >= Self.sharedArgumentBytes {
                    sealed += tail.count
                    shared += bytes.count
                    sealTail()
                    segments.append(bytes)
                } else {
                    tail.append(contentsOf: bytes)
                }
            case .integer(let number):
                DecimalDigits.append(DecimalDigits.count(of: number), to: &tail)
                appendLineEnd()
                DecimalDigits.append(number, to: &tail)
            }
            appendLineEnd()
        }
        appended += sealed + shared + tail.count - before
    }

    /// Hands the segments to `write` in order until it takes less than it is given; returns what stopped it, `nil` when all is out.
    mutating func drain(_ write: (UnsafeRawBufferPointer) -> TransportOutcome) -> TransportOutcome? {
        while true {
            if head == segments.count {
                recycleSegments()
                guard !tail.isEmpty else { return nil }
                sealTail()
            }
            let outcome = segments[head].withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[headOffset...])) }
            guard case .bytes(let count) = outcome else { return outcome }
            written += count
            headOffset += count
            if headOffset == segments[head].count { finishHead() }
        }
    }

    /// Forgets what was not written: the connection it was framed for is gone.
    mutating func reset() {
        self = OutputQueue()
    }

    private mutating func sealTail() {
        segments.append(tail)
        tail = []
    }

    private mutating func finishHead() {
        headOffset = 0
        // The one buffer of a row of small commands goes back to be the tail, with its capacity; a shared argument is let go.
        if head == segments.count - 1, tail.isEmpty, tail.capacity == 0, segments[head].count < Self.sharedArgumentBytes * 16 {
            swap(&tail, &segments[head])
            tail.removeAll(keepingCapacity: true)
        } else {
            segments[head] = []
        }
        head += 1
        // A socket that is never quite caught up with must not let the row of emptied segments grow.
        if head >= 64, head * 2 >= segments.count {
            segments.removeSubrange(..<head)
            head = 0
        }
    }

    private mutating func recycleSegments() {
        segments.removeAll(keepingCapacity: true)
        head = 0
    }

    private mutating func appendLineEnd() {
        tail.append(13)
        tail.append(10)
    }
}
