/// What became of one attempt to read or write without blocking.
enum TransportOutcome {
    /// That many bytes went through; at least one.
    case bytes(Int)
    /// Nothing to be done until the socket can be read.
    case needsRead
    /// Nothing to be done until the socket can be written.
    case needsWrite
    /// The peer ended the connection.
    case ended
    case failed(RedisError)
}

/// A connected byte stream. Used by its connection's thread only.
protocol Transport: AnyObject {
    /// Goes on with whatever must happen before bytes can flow; `nil` when they can.
    func prepare() -> TransportOutcome?
    func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportOutcome
    func write(_ bytes: UnsafeRawBufferPointer) -> TransportOutcome
}
