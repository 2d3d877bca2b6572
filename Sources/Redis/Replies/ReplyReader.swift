internal import CHiredis

/// hiredis' incremental parser with Swift values. Used on one connection's thread.
package final class ReplyReader {
    /// The parser moves the rest of its buffer after every kilobyte. A large buffer full of small replies would be moved again and again.
    private static let feedBytes = 16 << 10

    private let reader: UnsafeMutablePointer<redisReader>
    private let builder: UnsafeMutablePointer<ReplyBuilder>
    private let callbacks: UnsafeMutablePointer<redisReplyObjectFunctions>
    /// The bound on one reply. A connection raises it after the greeting.
    var maximumReplyBytes: Int
    private var bytesSinceReply = 0
    /// Any byte has come.
    private(set) var hasRead = false
    private var looksLikeTLS = false

    /// - Parameter meaning: Makes an error from a server's error text.
    package init(maximumReplyBytes: Int, meaning: @escaping (String) -> RedisError = { RedisError(reply: $0) }) {
        self.maximumReplyBytes = maximumReplyBytes
        builder = .allocate(capacity: 1)
        builder.initialize(to: ReplyBuilder(meaning: meaning))
        callbacks = .allocate(capacity: 1)
        callbacks.initialize(to: redisReplyObjectFunctions())
        callbacks.pointee.createString = receiveString
        callbacks.pointee.createArray = receiveArray
        callbacks.pointee.createInteger = receiveInteger
        callbacks.pointee.createNil = receiveNull
        callbacks.pointee.freeObject = { _ in }
        guard let reader = redisReaderCreateWithFunctions(callbacks) else {
            preconditionFailure("No memory for a reply parser.")
        }
        reader.pointee.privdata = UnsafeMutableRawPointer(builder)
        self.reader = reader
    }

    deinit {
        redisReaderFree(reader)
        callbacks.deinitialize(count: 1).deallocate()
        builder.deinitialize(count: 1).deallocate()
    }

    /// Parses bytes and calls `receive` for each complete reply.
    /// - Throws: `.replyTooLarge`, `.notRedis` for TLS, and `.unexpectedReply` for other bytes that are not RESP.
    package func feed(_ bytes: UnsafeRawBufferPointer, receive: (RedisReply) -> Void) throws(RedisError) {
        if !hasRead, let first = bytes.first {
            hasRead = true
            // A TLS server answers a plain command with an alert record.
            looksLikeTLS = first == 0x15 || first == 0x16
        }
        var rest = bytes
        while !rest.isEmpty {
            let chunk = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.feedBytes))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(chunk.count))
            bytesSinceReply += chunk.count
            guard redisReaderFeed(reader, chunk.baseAddress, chunk.count) == REDIS_OK else { throw failure }
            try parse(receive)
            // An array of short elements takes many times its size on the wire.
            let elements = builder.pointee.pendingElements * MemoryLayout<RedisReply>.stride
            guard bytesSinceReply + elements <= maximumReplyBytes else {
                throw RedisError(.replyTooLarge, "over \(maximumReplyBytes) bytes")
            }
        }
    }

    private func parse(_ receive: (RedisReply) -> Void) throws(RedisError) {
        while true {
            var ignored: UnsafeMutableRawPointer?
            guard redisReaderGetReply(reader, &ignored) == REDIS_OK else { throw failure }
            guard let reply = builder.pointee.take() else {
                // A newer parser also accepts RESP3's types.
                guard ignored == nil else { throw RedisError(.unexpectedReply, "a reply of an unknown type") }
                return
            }
            bytesSinceReply = 0
            receive(reply)
        }
    }

    private var failure: RedisError {
        let text = withUnsafeBytes(of: &reader.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return looksLikeTLS ? RedisError(.notRedis, "it speaks TLS; use rediss://") : RedisError(.unexpectedReply, text)
    }
}

// The parser only tests a callback's result for null, and passes it to `freeObject`, which frees nothing.
private var placeholder: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 1) }

private func builder(of task: UnsafePointer<redisReadTask>?) -> UnsafeMutablePointer<ReplyBuilder>? {
    task?.pointee.privdata?.assumingMemoryBound(to: ReplyBuilder.self)
}

private func receiveString(
    _ task: UnsafePointer<redisReadTask>?, _ text: UnsafeMutablePointer<CChar>?, _ count: Int
) -> UnsafeMutableRawPointer? {
    guard let task, let builder = builder(of: task) else { return nil }
    let bytes = UnsafeRawBufferPointer(start: text, count: count)
    switch task.pointee.type {
    case REDIS_REPLY_STATUS:
        builder.pointee.add(.status(bytes.elementsEqual("OK".utf8) ? "OK" : String(decoding: bytes, as: UTF8.self)))
    case REDIS_REPLY_ERROR:
        builder.pointee.add(.error(builder.pointee.meaning(String(decoding: bytes, as: UTF8.self))))
    default:
        builder.pointee.add(.bytes(Array(bytes)))
    }
    return placeholder
}

private func receiveArray(_ task: UnsafePointer<redisReadTask>?, _ count: gannet_element_count) -> UnsafeMutableRawPointer? {
    builder(of: task)?.pointee.begin(arrayOf: Int(count)) == true ? placeholder : nil
}

private func receiveInteger(_ task: UnsafePointer<redisReadTask>?, _ number: Int64) -> UnsafeMutableRawPointer? {
    builder(of: task)?.pointee.add(.integer(Int(number)))
    return placeholder
}

private func receiveNull(_ task: UnsafePointer<redisReadTask>?) -> UnsafeMutableRawPointer? {
    builder(of: task)?.pointee.add(.null)
    return placeholder
}

/// Builds replies from the parser's callbacks, which come depth first.
///
/// Callbacks save the allocation of the parser's own reply objects. No memory is reserved for an announced array, so a hostile
/// `*2147483647` costs nothing until its elements arrive.
struct ReplyBuilder {
    private var open: [(elements: [RedisReply], missing: Int)] = []
    private var finished: RedisReply?

    /// Elements of the unfinished reply.
    private(set) var pendingElements = 0

    /// Makes an error from a server's error text.
    let meaning: (String) -> RedisError

    init(meaning: @escaping (String) -> RedisError = { RedisError(reply: $0) }) {
        self.meaning = meaning
    }

    /// Begins an array; false if arrays are nested too deeply.
    mutating func begin(arrayOf count: Int) -> Bool {
        if count <= 0 {
            add(.array([]))
            return true
        }
        guard open.count < Self.deepestNesting else { return false }
        open.append((elements: [], missing: count))
        return true
    }

    /// Newer parsers have no bound, and freeing a reply takes a call on the stack for each level.
    private static let deepestNesting = 128

    mutating func add(_ value: RedisReply) {
        var value = value
        pendingElements += 1
        while !open.isEmpty {
            let last = open.count - 1
            open[last].elements.append(value)
            open[last].missing -= 1
            if open[last].missing > 0 { return }
            value = .array(open.removeLast().elements)
        }
        finished = value
        pendingElements = 0
    }

    mutating func take() -> RedisReply? {
        defer { finished = nil }
        return finished
    }
}
