/// The steps of an `EvilOrigin` for one request, or for one connection. A script that does not end the connection leaves it to the next request.
struct EvilScript: ExpressibleByArrayLiteral {
    let steps: [HostileServer.Step]

    init(_ steps: [HostileServer.Step]) { self.steps = steps }

    init(arrayLiteral steps: HostileServer.Step...) { self.steps = steps }

    static func + (first: EvilScript, second: EvilScript) -> EvilScript { EvilScript(first.steps + second.steps) }
}

extension EvilScript {
    /// How often "without end" is: more than anybody takes, in pieces of any size.
    static let forever = 1 << 40

    /// A whole answer with its length.
    static func answer(_ status: String = "200 OK", _ headers: String..., body: String = "hello") -> EvilScript {
        answer(status, headers, body: Array(body.utf8))
    }

    static func answer(_ status: String = "200 OK", _ headers: [String], body: [UInt8]) -> EvilScript {
        head("HTTP/1.1 \(status)", headers + ["Content-Length: \(body.count)"]) + [.send(body)]
    }

    /// The lines of a head and the empty one.
    static func head(_ statusLine: String = "HTTP/1.1 200 OK", _ headers: String...) -> EvilScript { head(statusLine, headers) }

    static func head(_ statusLine: String, _ headers: [String]) -> EvilScript {
        [.send(([statusLine] + headers + ["", ""]).joined(separator: "\r\n"))]
    }

    /// An answer whose body is chunked and whose chunks are these bytes, right or wrong.
    static func chunks(_ body: String) -> EvilScript { head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked") + [.send(body)] }

    /// All bytes there are, in an order that is the beginning of nothing.
    static let garbage = (0...255).map { UInt8($0 ^ 0xa5) }

    /// Sends the text without end, as fast as it is taken.
    static func flood(_ text: String) -> EvilScript { flood(Array(text.utf8)) }

    static func flood(_ bytes: [UInt8]) -> EvilScript {
        [.sendAgain(pieces(of: bytes), times: forever, every: .zero)]
    }

    /// As many of the bytes as fit into 64 KiB, once at least.
    static func pieces(of bytes: [UInt8]) -> [UInt8] {
        repeated(bytes, max(1, 65536 / bytes.count))
    }
}

extension EvilBehaviour {
    /// The steps for a request or, behind a door of its own, for a connection.
    func script(_ request: EvilRequest) -> EvilScript {
        // Each behaviour is in exactly one of these.
        let families = [
            silence(request), flood(request), length, chunk, statusLine, header, redirect(request), encoding, connection(request), tls,
            http2,
        ]
        guard let script = families.lazy.compactMap({ $0 }).first else {
            preconditionFailure("The evil origin has no script for \(rawValue).")
        }
        return script
    }
}

/// A request to an `EvilOrigin`, and what its answer may depend on.
struct EvilRequest {
    /// All lines, with the empty one.
    let head: [UInt8]
    /// The path and query as sent.
    let target: String
    /// Counted from 1.
    let numberOnConnection: Int
    let plainPort: UInt16
    private let securePort: UInt16

    init(head: [UInt8], numberOnConnection: Int, _ doors: EvilDoors) {
        self.head = head
        self.numberOnConnection = numberOnConnection
        plainPort = doors.plainPort
        securePort = doors.securePort
        let line = head.prefix { $0 != 0x0d && $0 != 0x0a }
        let rest = line.drop { $0 != 0x20 }.dropFirst()
        // A target may itself hold a blank, if a client lets it.
        target = String(decoding: rest.lastIndex(of: 0x20).map { rest[..<$0] } ?? rest, as: UTF8.self)
    }

    func plainURL(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(plainPort)\(path)" }

    func secureURL(_ path: String) -> String { "https://127.0.0.1:\(securePort)\(path)" }
}
