/// A request of a client. Everything in it comes from a stranger.
package struct HTTPServiceRequest: Sendable {
    package let method: String
    /// The path and the query as the client sent them, with their percent signs.
    package let target: String
    /// In the order in which they came.
    package let headers: [(name: String, value: String)]
    /// The client's address without its port, such as `127.0.0.1`. Behind a proxy it is the proxy's.
    package let client: String
    /// The body as it comes; empty for most requests.
    package let body: RequestBody
    /// Calls an action once, on any thread, when the answer has been sent whole or the client has left.
    let atEnd: @Sendable (_ action: @escaping @Sendable () -> Void) -> Void

    package init(
        method: String, target: String, headers: [(name: String, value: String)] = [], client: String = "127.0.0.1",
        body: RequestBody = RequestBody(), atEnd: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { _ in }
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.client = client
        self.body = body
        self.atEnd = atEnd
    }

    /// The path as it was sent, without the query.
    package var path: Substring { target[..<mark] }

    /// The query as it was sent, without its question mark.
    package var query: Substring { target[mark...].dropFirst() }

    private var mark: String.Index { target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex }

    /// The first value of a header.
    package func header(_ name: String) -> String? { headers.first { $0.name.caseInsensitiveEquals(name) }?.value }

    /// Whether the client announces a body.
    var hasBody: Bool { header("transfer-encoding") != nil || header("content-length").map { $0 != "0" } ?? false }

    /// All values of a header that may come several times, in order.
    package func headers(_ name: String) -> [String] { headers.filter { $0.name.caseInsensitiveEquals(name) }.map(\.value) }
}

extension String {
    /// Compares the names of headers, which are ASCII.
    fileprivate func caseInsensitiveEquals(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0 == $1 || ($0 | 0x20 == $1 | 0x20 && 0x61...0x7A ~= $0 | 0x20) }
    }
}
