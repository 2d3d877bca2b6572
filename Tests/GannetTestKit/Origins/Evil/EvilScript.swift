/// What an `EvilOrigin` does with one request, or with one connection. A script that ends without an end of the connection leaves it to
/// the next request.
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
        Array(repeatElement(bytes, count: max(1, 65536 / bytes.count)).joined())
    }
}

extension EvilBehaviour {
    /// What it does with a request, or, behind a door of its own, with a connection.
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
