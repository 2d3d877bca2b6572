extension HostileServer {
    /// One step of a script.
    package enum Step: Sendable {
        /// Reads until the peer has sent these bytes since the last step that read.
        case readUntil([UInt8])
        /// Reads this many bytes.
        case read(Int)
        case send([UInt8])
        /// Sends these bytes this many times, with a pause behind each; the peer's leaving and the server's end cut a pause short.
        case sendAgain([UInt8], times: Int, every: Duration)
        case pause(Duration)
        /// Ends the connection in good order.
        case close
        /// Ends this side of the TCP connection, under TLS without a word of farewell, and reads until the peer ends the other.
        case halfClose
        /// Ends it with a reset.
        case reset
        /// Says nothing more, and reads what comes, until the peer or the server ends.
        case silence
        /// Says nothing more and reads nothing, until the server ends: the peer's writes fill the buffers.
        case deafness

        /// Reads until the peer has sent this text.
        package static func readUntil(_ text: String) -> Step { .readUntil(Array(text.utf8)) }

        /// Sends a text.
        package static func send(_ text: String) -> Step { .send(Array(text.utf8)) }
    }
}
