import GannetBase
import GannetFetch

/// A client's connection where a gateway is the cache: `GET` becomes a request for `/v1/fetch`, and the origin itself answers everything else.
///
/// ```
///  suite's client ─▶ GatewayConnection ─▶ gateway ─▶ MarkingConnection ─▶ suite's origin
/// ```
struct GatewayConnection {
    let client: Int32
    let gateway: UInt16
    /// The port of the `MarkingConnection`s, which is the origin to the gateway.
    let origin: UInt16
    let marks: SuiteMarks

    func serve() {
        guard let request = ProxyRequest(from: client) else { return }
        guard request.method == "GET", request.target.hasPrefix("/test/") else {
            if request.method == "PUT" { marks.noteTest(request.target, request.body) }
            return Wire.send(Wire.answer(to: request.bytesForOneAnswer, at: origin), to: client)
        }
        let url = "http://127.0.0.1:\(origin)\(request.target)"
        let headers = marks.taken(from: request.fields, for: request.target).filter { $0.name.lowercased() != "host" }
        let lines = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        let escaped = url.replacing("%", with: "%25").replacing("&", with: "%26").replacing("+", with: "%2B").replacing("#", with: "%23")
        let question = "GET /v1/fetch?url=\(escaped) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(lines)Connection: close\r\n\r\n"
        let answer = Wire.answer(to: Array(question.utf8), at: gateway)
        Wire.send(failure(in: answer, of: request) ?? answer, to: client)
    }

    /// The suite's origin answered a failure, of which a gateway hands on the status alone; nil for other answers.
    private func failure(in answer: [UInt8], of request: ProxyRequest) -> [UInt8]? {
        let text = String(decoding: answer, as: UTF8.self)
        guard text.contains("application/problem+json"), let status = text.firstMatch(of: /"originStatus":(\d+)/) else { return nil }
        let number = request.fields.first { $0.name.lowercased() == "req-num" }.flatMap { Int($0.value) }
        let body = marks.bodyOfFailure(request.target, request: number ?? 0)
        return Array("HTTP/1.1 \(status.1) Answer\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)".utf8)
    }
}

/// A connection of the gateway to its origin. The marks of the last client are added on the way.
struct MarkingConnection {
    let client: Int32
    let origin: UInt16
    let marks: SuiteMarks

    func serve() {
        guard let request = ProxyRequest(from: client) else { return }
        let lines = marks.ofRequest(request.target).map { "\($0.name): \($0.value)\r\n" }.joined()
        var bytes = request.bytesForOneAnswer
        if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { bytes.insert(contentsOf: lines.utf8, at: end + 1) }
        Wire.send(Wire.answer(to: bytes, at: origin), to: client)
    }
}

/// Bytes of connections that carry one request.
enum Wire {
    /// The bytes that a server on this machine sends until it closes the connection.
    static func answer(to request: [UInt8], at port: UInt16) -> [UInt8] {
        guard let address = SocketAddress("127.0.0.1", port: port) else { return [] }
        let server = socket(address.family, SocketAddress.stream, 0)
        defer { close(server) }
        guard address.withPointer({ connect(server, $0, $1) }) == 0 else { return [] }
        send(request, to: server)
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(server, &buffer, buffer.count, 0)
            guard count > 0 else { return all }
            all += buffer[..<count]
        }
    }

    static func send(_ bytes: [UInt8], to descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { GannetBase.send(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return }
            sent += count
        }
    }
}
