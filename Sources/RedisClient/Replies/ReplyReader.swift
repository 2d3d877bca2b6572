internal import CHiredis

/// hiredis' incremental parser, giving Swift values. Lives on one connection's thread.
final class ReplyReader {
    /// Why a stream of bytes is no longer understood.
    enum Failure: Error {
        /// The bytes are not RESP; carries the parser's sentence and whether they look like a TLS record.
        case notRESP(String, looksLikeTLS: Bool)
        case tooLarge
    }

    /// The parser moves the rest of its buffer together after every kilobyte it takes, so that a large buffer full of small
    /// replies would be moved over and over.
    private static let feedBytes = 16 << 10

    private let reader: UnsafeMutablePointer<redisReader>
    private let builder: UnsafeMutablePointer<ReplyBuilder>
    private let callbacks: UnsafeMutablePointer<redisReplyObjectFunctions>
    /// The bound on one reply. A connection raises it once the server has shown that it is one.
    var maximumReplyBytes: Int
    private var bytesSinceReply = 0
    private var isFirstByte = true
    private var looksLikeTLS = false

    /// - Parameter meaning: Makes an error of a server's error text, also of one inside an array.
    init(maximumReplyBytes: Int, meaning: @escaping (String) -> RedisError = { RedisError(reply: $0) }) {
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

    /// Takes what was read from the socket and calls `receive` for each reply that is complete.
    func feed(_ bytes: UnsafeRawBufferPointer, receive: (RedisReply) -> Void) throws(Failure) {
        if isFirstByte, let first = bytes.first {
            isFirstByte = false
            // A server that speaks TLS answers a plain command with an alert record.
            looksLikeTLS = first == 0x15 || first == 0x16
        }
        var rest = bytes
        while !rest.isEmpty {
            let chunk = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.feedBytes))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(chunk.count))
            bytesSinceReply += chunk.count
            guard redisReaderFeed(reader, chunk.baseAddress, chunk.count) == REDIS_OK else { throw failure }
            try parse(receive)
            // An array of short elements takes many times its bytes on the wire.
            let elements = builder.pointee.pendingElements * MemoryLayout<RedisReply>.stride
            guard bytesSinceReply + elements <= maximumReplyBytes else { throw .tooLarge }
        }
    }

    private func parse(_ receive: (RedisReply) -> Void) throws(Failure) {
        while true {
            var ignored: UnsafeMutableRawPointer?
            guard redisReaderGetReply(reader, &ignored) == REDIS_OK else { throw failure }
            guard let reply = builder.pointee.take() else {
                // A newer parser also knows RESP3's types, which no server sends unasked.
                guard ignored == nil else { throw .notRESP("a reply of a type that was not asked for", looksLikeTLS: false) }
                return
            }
            bytesSinceReply = 0
            receive(reply)
        }
    }

    private var failure: Failure {
        let text = withUnsafeBytes(of: &reader.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return .notRESP(text, looksLikeTLS: looksLikeTLS)
    }
}

// The parser only tests what its callbacks return for null, and hands it back to `freeObject`, which has nothing to free.
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
