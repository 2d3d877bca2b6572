internal import GannetBase

/// A request that a made-up web has got.
package struct WebRequest: Sendable, Equatable {
    package enum End: UInt8, Sendable {
        /// The whole answer was handed to the kernel.
        case complete
        /// The web ended the connection on purpose: a reset, or a body that is cut.
        case broken
        /// The client ended the connection before the answer was complete.
        case left
        case inFlight
    }

    /// By the system's monotonic clock, in nanoseconds, as all times of a record.
    package var begun: Int64
    package var ended: Int64 = .max
    package var host: Int32
    package var path: Path
    package var status: UInt16 = 0
    package var bytes: Int64 = 0
    package var end = End.inFlight
    /// The requests of its host that were in flight, with this one.
    package var inFlight: Int32 = 1
    /// The seconds that the answer asks to wait.
    package var retryAfter: UInt16 = 0

    package init(begun: Int64, host: Int, path: Path, inFlight: Int = 1) {
        self.begun = begun
        self.host = Int32(host)
        self.path = path
        self.inFlight = Int32(inFlight)
    }

    package enum Path: Sendable, Equatable {
        case robots
        case url(Int32)
        /// The page that a redirect leads to.
        case target(Int32)
        case other

        init(_ path: WebPath) {
            switch path {
            case .robots: self = .robots
            case .url(let number): self = Int32(exactly: number).map { .url($0) } ?? .other
            case .target(let number): self = Int32(exactly: number).map { .target($0) } ?? .other
            case .other: self = .other
            }
        }
    }

    /// Whether the host has answered, with whatever status but those of trouble.
    var isAnswer: Bool { end == .complete && status < 500 && status != 429 }
}

/// The requests and connections that a made-up web has got.
package struct WebRecord: Sendable {
    package var requests: [WebRequest] = []
    /// Connections by host. A connection that no host accepted is not among them.
    package var connections: [Int]
    /// The time of the first connection, which starts the clock of hosts that move.
    package var first: Int64?
    package var openConnections = 0
    package var mostOpenConnections = 0
    package var failedHandshakes = 0
    /// Descriptors ran out this often.
    package var refusedByLimit = 0

    package init(hosts: Int) { connections = [Int](repeating: 0, count: hosts) }

    /// A line for each request: begun, ended (both in microseconds since the first connection), host, path, status, bytes, end, and requests in
    /// flight at its host. Tabs are between them.
    package func write(to path: String) throws(KitError) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw .system("cannot write \(path)", errno) }
        defer { close(file) }
        var text: [UInt8] = []
        text.reserveCapacity(1 << 20)
        let first = first ?? 0
        for (number, request) in requests.enumerated() {
            let name =
                switch request.path {
                case .robots: "robots"
                case .url(let number): "\(number)"
                case .target(let number): "to/\(number)"
                case .other: "other"
                }
            let ended = request.end == .inFlight ? "-" : "\((request.ended - first) / 1000)"
            text +=
                "\((request.begun - first) / 1000)\t\(ended)\t\(request.host)\t\(name)\t\(request.status)\t\(request.bytes)\t\(request.end)\t\(request.inFlight)\n"
                .utf8
            if text.count > 1 << 20 || number == requests.count - 1 {
                if let code = Descriptor.writeAll(text[...], to: file) { throw .system("cannot write \(path)", code) }
                text.removeAll(keepingCapacity: true)
            }
        }
    }
}
