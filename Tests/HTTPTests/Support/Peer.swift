import Glibc

/// A request that has come in, and the connection to answer it on.
struct Peer {
    let head: String
    private let descriptor: Int32

    /// Nil when the client has closed.
    init?(_ descriptor: Int32) {
        self.descriptor = descriptor
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual([0x0d, 0x0a, 0x0d, 0x0a]) {
            guard read(descriptor, &byte, 1) == 1 else { return nil }
            bytes.append(byte)
        }
        head = String(decoding: bytes, as: UTF8.self)
    }

    var path: String { String(head.split(separator: " ")[1]) }

    /// False when the client has gone.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Self.send(descriptor, $0) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// A whole answer with its length.
    @discardableResult
    func answer(_ status: Int = 200, headers: [String] = [], body: [UInt8] = []) -> Bool {
        let lines = ["HTTP/1.1 \(status) X"] + headers + ["Content-Length: \(body.count)", "", ""]
        return send(Array(lines.joined(separator: "\r\n").utf8) + body)
    }

    /// Blocks until the client closes.
    func waitForClose() -> Bool {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) > 0 {}
        return false
    }

    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
