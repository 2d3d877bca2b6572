internal import GannetBase

/// A small HTTP server in this process. A function decides how each request is answered: at once, or by a task. libmicrohttpd reads the requests,
/// which strangers send.
///
/// ```
///  a server thread:  head ─▶ handler ─▶ now ───────────────────▶ answer
///                               └─▶ later: the connection sleeps ─▶ answer
///  Swift's tasks:                      └─▶ work ──────┘ wakes it     └─▶ a stream, piece by piece
/// ```
///
/// A few threads share the connections, and a slow answer delays no other. The number of connections is bounded, and so are the times in which
/// nothing comes.
package final class HTTPService: Sendable {
    package typealias Handler = @Sendable (HTTPServiceRequest) -> HTTPServiceReply

    /// The port that the server listens on.
    package let port: UInt16

    private let core: ServiceCore
    private let threads: Mutex<[ServerThread]>

    /// Starts the server.
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address, without brackets.
    ///   - port: 0 takes a free port.
    package init(
        address: String, port: UInt16, _ options: HTTPServiceOptions = HTTPServiceOptions(), _ handler: @escaping Handler
    ) throws(HTTPServiceFailure) {
        guard let storage = SocketAddress(address, port: port) else {
            throw HTTPServiceFailure("'\(address)' is not an IP address.")
        }
        let core = ServiceCore(options, handler)
        var threads: [ServerThread] = []
        do throws(HTTPServiceFailure) {
            while threads.count < max(1, options.threads) {
                threads.append(try ServerThread(core, on: storage, beside: threads.first))
            }
        } catch {
            for thread in threads { thread.stop() }
            throw HTTPServiceFailure("Cannot listen on \(address) port \(port): \(error).")
        }
        self.core = core
        self.port = SocketAddress.port(ofSocket: threads[0].socket) ?? port
        self.threads = Mutex(threads)
    }

    deinit { stop() }

    /// The requests whose answers have not been sent whole. Streams that end with the server alone do not count.
    package var openRequests: Int { threads.withLock { $0.isEmpty } ? 0 : core.openRequests }

    /// Takes no more connections, and lets requests that are under way come to their end. Returns when no connection is left, or the task is
    /// cancelled. `stop` has to follow.
    package func drain() async {
        guard threads.withLock({ !$0.isEmpty }) else { return }
        core.prepareToEnd()
        await core.clients.drain()
    }

    /// Ends it. Connections are closed, and the tasks that make answers are cancelled.
    package func stop() {
        let running = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        guard !running.isEmpty else { return }
        core.end()
        for thread in running { thread.stop() }
    }
}

/// Bounds of a server.
package struct HTTPServiceOptions: Sendable {
    /// The threads that serve connections. Each has its share of them, and calls the handler.
    package var threads = 1
    /// The most connections at a time. When all are taken, an idle one makes room for a new one. Where none is idle, the new one is refused.
    package var connections = 128
    /// The most connections of one address, so that no client keeps the others out. When it has as many, an idle one of them makes room for
    /// its new one. nil sets no such limit.
    package var each: Int?
    /// A connection ends when it carries nothing for so long while bytes are to come or to go.
    package var withoutTraffic = Duration.seconds(30)
    /// The same for bodies of requests, and for clients of endless answers, while the server drains.
    package var withoutTrafficAtEnd = Duration.seconds(10)
    /// A connection ends when it brings no whole head of a request for so long: at its beginning, or after an answer.
    package var withoutRequest = Duration.seconds(30)
    /// For how long a new connection makes no room for others: its first request is on its way.
    package var fresh = Duration.seconds(1)
    /// Where the server counts what it does.
    package var counts = HTTPServiceCounts()
    /// A certificate chain and its key, as PEM. Without them the server speaks plain HTTP.
    package var tls: (certificate: String, key: String)?

    package init() {}

    /// libmicrohttpd accepts nothing when its own bound is reached, and clients would wait for nothing. So that bound is higher, and
    /// connections beyond `connections` are refused, or an idle one makes room. Each thread has its share of the bound.
    var connectionsToRefuse: Int { max(threads, connections / 8) }
}

/// The sentence that says why the server cannot listen.
package struct HTTPServiceFailure: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    /// Half a sentence, by the `errno`.
    static func system(_ code: Int32) -> HTTPServiceFailure {
        HTTPServiceFailure(code == 0 ? "the address cannot be listened on" : Descriptor.message(code))
    }
}

/// The parts of a server that its threads share.
final class ServiceCore: Sendable {
    private struct State {
        /// The requests that are not answered yet. libmicrohttpd cannot end while connections sleep.
        var requests: [ObjectIdentifier: ServedRequest] = [:]
        var isOver = false
    }

    let options: HTTPServiceOptions
    let handler: HTTPService.Handler
    let clients: Clients
    /// Connections end with their answers.
    let isEnding = SharedFlag()
    private let state = Mutex(State())

    init(_ options: HTTPServiceOptions, _ handler: @escaping HTTPService.Handler) {
        self.options = options
        self.handler = handler
        clients = Clients(options)
    }

    private var requests: [ServedRequest] { state.withLock { Array($0.requests.values) } }

    var openRequests: Int { requests.count { !$0.isEndless } }

    func began(_ request: ServedRequest) {
        options.counts.note { $0.requests += 1 }
        let isOver = state.withLock { state in
            state.requests[ObjectIdentifier(request)] = request
            return state.isOver
        }
        if isOver { request.leave() }
    }

    func ended(_ request: ServedRequest) {
        state.withLock { $0.requests[ObjectIdentifier(request)] = nil }
        request.completed()
        options.counts.note { $0.requests -= 1 }
    }

    /// Answers for tasks that are late, and ends requests and connections that have lasted too long. To be called each second.
    func lookThrough() {
        clients.closeOverdue()
        let (now, isEnding) = (ContinuousClock.now, self.isEnding.isSet)
        for request in requests {
            request.answerIfLate(now)
            request.endIfStalled(now, after: isEnding ? options.withoutTrafficAtEnd : options.withoutTraffic, isEnding: isEnding)
        }
    }

    /// Streams without an end of their own come to one, so that their clients go to another server.
    func prepareToEnd() {
        isEnding.set()
        for request in requests { request.prepareToEnd() }
    }

    /// Ends all requests, also those that begin later.
    func end() {
        state.withLock { $0.isOver = true }
        for request in requests { request.leave() }
    }
}
