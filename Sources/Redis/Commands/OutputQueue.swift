/// The bytes of commands for the socket, as a list of segments.
///
/// Small commands share a buffer, so that a batch is one write. A large argument is a segment of its own that shares the caller's storage, so it
/// is never copied. hiredis' formatter would copy every argument.
struct OutputQueue {
    /// Smaller arguments are copied, because a copy costs less than another write.
    static let sharedArgumentBytes = 16 << 10
    /// A buffer with so many bytes is a segment, and the next commands begin another. A buffer that grew with its batch would be copied each
    /// time it has to grow.
    private static let fullBytes = 64 << 10

    /// Bytes that were appended and written so far: places in the connection's stream.
    private(set) var appended = 0
    private(set) var written = 0

    private(set) var segments: [[UInt8]] = []
    private var head = 0
    private var headOffset = 0
    private var tail: [UInt8] = []

    var isEmpty: Bool { written == appended }
    var pendingBytes: Int { appended - written }

    /// Appends the encoded command.
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
        if tail.count >= Self.fullBytes {
            sealTail()
            tail.reserveCapacity(Self.fullBytes + Self.sharedArgumentBytes)
        }
    }

    /// Passes the segments to `write` until it cannot take more. Returns its last outcome, or `nil` when all is written.
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

    /// Drops all bytes, for a new connection.
    mutating func reset() {
        self = OutputQueue()
    }

    private mutating func sealTail() {
        segments.append(tail)
        tail = []
    }

    private mutating func finishHead() {
        headOffset = 0
        // The buffer of small commands becomes the tail again, with its capacity. A shared argument is freed.
        if head == segments.count - 1, tail.isEmpty, tail.capacity == 0, segments[head].count < Self.sharedArgumentBytes * 16 {
            swap(&tail, &segments[head])
            tail.removeAll(keepingCapacity: true)
        } else {
            segments[head] = []
        }
        head += 1
        // Without this, the emptied segments would pile up while the socket is always a little behind.
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

/// Writes integers as decimal text without a `String`, because every argument has its length.
enum DecimalDigits {
    /// The number of characters.
    static func count(of number: Int) -> Int {
        var count = number < 0 ? 2 : 1
        var rest = number.magnitude
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }

    static func append(_ number: Int, to buffer: inout [UInt8]) {
        if number >= 0, number < 10 {
            buffer.append(48 &+ UInt8(truncatingIfNeeded: number))
            return
        }
        let count = count(of: number)
        var position = buffer.count + count
        buffer.append(contentsOf: repeatElement(45, count: count))
        var rest = number.magnitude
        repeat {
            position -= 1
            buffer[position] = 48 + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
    }
}
