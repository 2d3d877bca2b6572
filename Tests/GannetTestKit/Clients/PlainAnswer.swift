internal import GannetBase

/// The answer of an HTTP server to one request, with no client of ours in between.
package struct PlainAnswer: Sendable {
    package let status: Int
    /// By their names in small letters.
    package let headers: [String: String]
    package let body: [UInt8]

    /// Asks a server on 127.0.0.1, on a connection of its own, whose end is that of the answer. For many questions this is much less work than a
    /// curl for each.
    /// - Parameter words: The request as for curl, with `-X`, `-H`, `--data-binary` and `--head`.
    package static func to(_ path: String, port: UInt16, _ words: [String] = []) async throws(KitError) -> PlainAnswer {
        let (head, body, isHead) = request(path, port, words)
        return try await OwnedThread.run(name: "test-kit") { () throws(KitError) in
            let descriptor = try Socket.connect(to: .loopback(port: port))
            defer { closeSocket(descriptor) }
            var patience = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            try Socket.sendAll(Array(head.utf8) + body, to: descriptor)
            var bytes: [UInt8] = []
            while case let more = try Socket.receive(from: descriptor), !more.isEmpty { bytes += more }
            return try PlainAnswer(bytes, isHead: isHead)
        }
    }

    private static func request(_ path: String, _ port: UInt16, _ words: [String]) -> (head: String, body: [UInt8], isHead: Bool) {
        var (method, body): (String?, String?)
        var given: [String] = []
        for (word, value) in zip(words, words.dropFirst() + [""]) {
            switch word {
            case "-X": method = value
            case "-H": given.append(value)
            case "--data-binary": body = value
            case "--head": method = "HEAD"
            default: continue
            }
        }
        var usual = ["Host: 127.0.0.1:\(port)", "Accept: */*", "Connection: close"]
        if let body { usual += ["Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)"] }
        func name(_ line: String) -> String { line.prefix { $0 != ":" }.lowercased() }
        let own = Set(given.map(name))
        let first = "\(method ?? (body == nil ? "GET" : "POST")) \(path) HTTP/1.1"
        let lines = [first] + usual.filter { !own.contains(name($0)) } + given
        return (lines.joined(separator: "\r\n") + "\r\n\r\n", Array((body ?? "").utf8), method == "HEAD")
    }

    private init(_ bytes: [UInt8], isHead: Bool) throws(KitError) {
        let end = Array("\r\n\r\n".utf8)
        guard let head = bytes.firstRange(of: end) else { throw KitError("the answer has no head: \(bytes.count) bytes") }
        let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count > 1, let status = Int(words[1]) else { throw KitError("the answer has no status: \(lines.first ?? "")") }
        self.status = status
        headers = lines.dropFirst().reduce(into: [:]) { headers, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return }
            let (name, value) = (parts[0].lowercased(), String(parts[1].drop { $0 == " " }))
            headers[name] = headers[name].map { $0 + ", " + value } ?? value
        }
        var rest = bytes[head.upperBound...]
        if isHead {
            body = []
        } else if headers["transfer-encoding"] == "chunked" {
            var whole: [UInt8] = []
            while let line = rest.firstRange(of: Array("\r\n".utf8)),
                let count = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), count > 0,
                rest.endIndex >= line.upperBound + count + 2
            {
                whole += rest[line.upperBound..<(line.upperBound + count)]
                rest = rest[(line.upperBound + count + 2)...]
            }
            guard rest.elementsEqual("0\r\n\r\n".utf8) else { throw KitError("the answer's body was cut after \(whole.count) bytes") }
            body = whole
        } else {
            body = Array(rest)
            if let length = headers["content-length"].flatMap({ Int($0) }), length != body.count, status != 304 {
                throw KitError("the answer's body has \(body.count) bytes instead of \(length)")
            }
        }
    }
}
