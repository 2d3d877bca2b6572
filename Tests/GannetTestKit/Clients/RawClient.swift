internal import GannetBase

/// A client that sends exactly the bytes it is told to, on a thread of its own for each call.
package final class RawClient: Sendable {
    private let descriptor: Mutex<Int32?>

    package convenience init(port: UInt16) throws(KitError) { try self.init(.loopback(port: port)) }

    package init(_ address: ServerAddress) throws(KitError) { descriptor = Mutex(try Socket.connect(to: address)) }

    deinit { leave() }

    package func send(_ text: String) async throws(KitError) { try await send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) async throws(KitError) {
        let descriptor = try open()
        try await OwnedThread.run(name: "raw-client") { () throws(KitError) in try Socket.sendAll(bytes, to: descriptor) }
    }

    /// Reads until `isDone` says so, or until the server closes the connection.
    package func receive(until isDone: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }) async throws(KitError) -> [UInt8] {
        let descriptor = try open()
        return try await OwnedThread.run(name: "raw-client") { () throws(KitError) in
            var all: [UInt8] = []
            while !isDone(all) {
                let bytes = try Socket.receive(from: descriptor)
                if bytes.isEmpty { break }
                all += bytes
            }
            return all
        }
    }

    /// Reads as far as the first line that ends with `end`.
    package func text(until end: String) async throws(KitError) -> String {
        let end = Array(end.utf8)
        return String(decoding: try await receive { $0.suffix(end.count).elementsEqual(end) }, as: UTF8.self)
    }

    package func leave() {
        let open = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        if let open { close(open) }
    }

    private func open() throws(KitError) -> Int32 {
        guard let open = descriptor.withLock({ $0 }) else { throw KitError("the client has left") }
        return open
    }
}
