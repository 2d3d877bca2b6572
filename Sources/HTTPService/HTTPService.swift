internal import CMicrohttpd
internal import GannetBasics

/// A small HTTP server in this process. A function answers each `GET` and `HEAD`. libmicrohttpd reads the requests, which strangers send.
///
/// Each connection has a thread, so a slow answer delays no other. The number of connections is bounded.
package final class HTTPService: Sendable {
    package typealias Handler = @Sendable (HTTPServiceRequest) -> HTTPServiceAnswer

    /// The port that the server listens on.
    package let port: UInt16

    private let context: Unmanaged<HandlerBox>
    private let daemon: Mutex<DaemonHandle?>

    private static let idleSeconds: UInt32 = 10
    private static let memoryForConnection = 32 * 1024

    /// Starts the server.
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address, without brackets.
    ///   - port: 0 takes a free port.
    ///   - connections: The most connections at a time.
    ///   - each: The most connections of one address, so that no client keeps the others out. nil sets no such limit.
    package init(
        address: String, port: UInt16, connections: Int = 128, each: Int? = nil, _ handler: @escaping Handler
    ) throws(HTTPServiceFailure) {
        guard let storage = SocketAddress(address, port: port) else {
            throw HTTPServiceFailure("'\(address)' is not an IP address.")
        }
        let context = Unmanaged.passRetained(HandlerBox(handler))
        errno = 0
        let started = storage.withPointer { pointer, _ in
            gannet_http_start(
                pointer, UInt32(clamping: connections), UInt32(clamping: each ?? 0), Self.idleSeconds, Self.memoryForConnection,
                answerRequest, context.toOpaque())
        }
        guard let started else {
            let code = errno
            context.release()
            let reason = code == 0 ? "the address cannot be listened on" : Descriptor.message(code)
            throw HTTPServiceFailure("Cannot listen on \(address) port \(port): \(reason).")
        }
        self.context = context
        self.port = SocketAddress.port(ofSocket: gannet_http_socket(started)) ?? port
        daemon = Mutex(DaemonHandle(daemon: started))
    }

    deinit { stop() }

    /// Ends it, and waits for the answers under way.
    package func stop() {
        let running = daemon.withLock { current in
            defer { current = nil }
            return current
        }
        guard let running else { return }
        MHD_stop_daemon(running.daemon)
        context.release()
    }
}

/// The sentence that says why the server cannot listen.
package struct HTTPServiceFailure: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

private struct DaemonHandle: @unchecked Sendable {
    let daemon: OpaquePointer
}

private final class HandlerBox: Sendable {
    let handler: HTTPService.Handler

    init(_ handler: @escaping HTTPService.Handler) { self.handler = handler }
}

/// Called by libmicrohttpd, on a connection's thread: first when the head of a request is there, then when all of it is.
private func answerRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?, _ uploadSize: UnsafeMutablePointer<Int>?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let url, let method, let state else { return .NO }
    guard state.pointee != nil else {
        state.pointee = context
        return .YES
    }
    // A body is of no interest, and is passed over.
    if let uploadSize, uploadSize.pointee != 0 {
        uploadSize.pointee = 0
        return .YES
    }
    let box = Unmanaged<HandlerBox>.fromOpaque(context).takeUnretainedValue()
    let request = HTTPServiceRequest(method: String(cString: method), path: String(cString: url))
    let answer = ["GET", "HEAD"].contains(request.method) ? box.handler(request) : HTTPServiceAnswer(status: 405)
    return answer.queue(on: connection)
}

/// A request without its body.
package struct HTTPServiceRequest: Sendable {
    package let method: String
    /// Without the query.
    package let path: String
}

/// The answer to a request.
package struct HTTPServiceAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A text, or JSON, or whatever `type` says.
    package init(status: Int = 200, _ text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status: status, headers: [(name: "Content-Type", value: type)], body: Array(text.utf8))
    }

    func queue(on connection: OpaquePointer) -> MHD_Result {
        var body = body
        let made = body.withUnsafeMutableBytes { MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY) }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        for header in headers { MHD_add_response_header(made, header.name, header.value) }
        return MHD_queue_response(connection, UInt32(clamping: status), made)
    }
}
