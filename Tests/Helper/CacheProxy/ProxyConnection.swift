import GannetBase
import GannetFetch
import GannetHTTP

/// A client's connection, for one request. The library answers `GET`, and the origin itself answers everything else.
struct ProxyConnection {
    let client: Int32
    let origin: UInt16
    let fetcher: Fetcher
    let marks: SuiteMarks

    /// Headers of one connection, and those that describe bytes which the library has unpacked.
    private static let ofConnections: Set = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length",
        "content-encoding",
    ]

    func serve() {
        guard let request = ProxyRequest(from: client) else { return }
        guard request.method == "GET", request.target.hasPrefix("/test/") else { return pass(request) }
        let url = "http://127.0.0.1:\(origin)\(request.target)"
        let headers = marks.taken(from: request.fields, for: url)
        let answer = Condition<[UInt8]?>(nil)
        Task {
            let message: [UInt8]
            do throws(FetchError) {
                guard let address = URL(string: url) else { throw FetchError(kind: .invalidURL, url: url) }
                // Lines of one name are one list (RFC 9110, section 5.3).
                let lists = Dictionary(headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
                let response = try await fetcher.response(for: FetchRequest(address) { $0.headers = lists })
                message = Self.message(response.status, response.headers, Array(response.data))
            } catch {
                let body = marks.bodyOfFailure(request.target, error.headers)
                message = Self.message(Self.status(of: error), error.headers, Array(body.utf8))
            }
            answer.withLock { $0 = message }
            answer.wakeAll()
        }
        send(answer.wait { $0 }, to: client)
    }

    private static func status(of error: FetchError) -> Int {
        switch error.kind {
        case .status(let status): status
        case .timeout: 504
        default: 502
        }
    }

    private static func message(_ status: Int, _ headers: ResponseHeaders, _ body: [UInt8]) -> [UInt8] {
        let fields = headers.fields.filter { !ofConnections.contains($0.name.lowercased()) }
        let length = status == 304 ? [] : [(name: "Content-Length", value: "\(body.count)")]
        let lines =
            ["HTTP/1.1 \(status) Answer"] + (fields + length + [(name: "Connection", value: "close")]).map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// Hands a request to the origin as it is, and its answer to the client.
    private func pass(_ request: ProxyRequest) {
        if request.method == "PUT" { marks.noteTest(request.target, request.body) }
        guard let address = SocketAddress("127.0.0.1", port: origin) else { return }
        let server = socket(address.family, SocketAddress.stream, 0)
        defer { close(server) }
        guard address.withPointer({ connect(server, $0, $1) }) == 0 else { return }
        send(request.bytesForOneAnswer, to: server)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(server, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            send(Array(buffer[..<count]), to: client)
        }
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { GannetBase.send(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return }
            sent += count
        }
    }
}

/// A request with its body.
struct ProxyRequest {
    let method: String
    let target: String
    private let lines: [(name: String, value: String)]
    let body: [UInt8]

    /// `nil` when the client leaves before its request is whole.
    init?(from client: Int32) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        func more() -> Bool {
            let count = recv(client, &buffer, buffer.count, 0)
            if count > 0 { bytes += buffer[..<count] }
            return count > 0
        }
        let end = Array("\r\n\r\n".utf8)
        var length: Int?
        while length == nil {
            length = bytes.indices.first { bytes[$0...].starts(with: end) }
            if length == nil, !more() { return nil }
        }
        guard let length else { return nil }
        let head = String(decoding: bytes[..<length], as: UTF8.self).split(separator: "\r\n")
        let words = head.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        (method, target) = (String(words[0]), String(words[1]))
        lines = head.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), String(line[line.index(after: colon)...]).trimmedOfBlanks)
        }
        let told = lines.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        while bytes.count < length + end.count + told { if !more() { return nil } }
        body = Array(bytes[(length + end.count)...])
    }

    /// The headers that a caller of the library may set.
    var fields: [HeaderField] { lines.compactMap { HeaderField(name: $0.name, value: $0.value) } }

    /// The request with a connection that ends after the answer.
    var bytesForOneAnswer: [UInt8] {
        let headers = lines.filter { $0.name.lowercased() != "connection" }.map { "\($0.name): \($0.value)\r\n" }.joined()
        return Array("\(method) \(target) HTTP/1.1\r\n\(headers)Connection: close\r\n\r\n".utf8) + body
    }
}
