/// The server's end of a connection as a script sees it: bytes, whatever carries them. Its calls block; another thread ends them by
/// shutting the descriptor down.
protocol ByteStream {
    /// The socket beneath, which the stream does not own.
    var descriptor: Int32 { get }

    func sendAll(_ bytes: [UInt8]) throws(KitError)

    /// Some bytes; none at the end of the stream.
    func receive() throws(KitError) -> [UInt8]

    /// Says farewell, where the stream has a word for it.
    func finish()
}

/// A socket as it is.
struct PlainStream: ByteStream {
    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    func sendAll(_ bytes: [UInt8]) throws(KitError) { try Socket.sendAll(bytes, to: descriptor) }

    func receive() throws(KitError) -> [UInt8] { try Socket.receive(from: descriptor) }

    func finish() {}
}
