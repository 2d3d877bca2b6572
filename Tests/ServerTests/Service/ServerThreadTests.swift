import GannetBase
import GannetTestKit
import Testing

@testable import Server

@Suite(.timeLimit(.minutes(3))) struct ServerThreadTests {
    /// As many as libmicrohttpd takes from the kernel at once: then it asks the kernel again before it serves them.
    private static let requests = 128

    @Test func `requests that all come while the thread is busy are answered when it goes on`() async throws {
        var options = HTTPServiceOptions()
        options.connections = 400
        // No connection that is too old wakes the thread.
        (options.withoutTraffic, options.withoutRequest) = (.seconds(600), .seconds(600))
        let isHeld = Condition(true)
        let (hasBegun, answered) = (SharedFlag(), Count())
        let service = try HTTPService(address: "127.0.0.1", port: 0, options) { request in
            if request.path == "/hold" {
                hasBegun.set()
                isHeld.wait { $0 ? nil : () }
            } else {
                answered.add(1)
            }
            return .now(HTTPServiceAnswer("here"))
        }
        func request(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }
        let clients = try (0..<Self.requests).map { _ in try RawClient(port: service.port) }
        let first = try RawClient(port: service.port)
        try await eventually("all are connected") { options.counts.values.connections == Self.requests + 1 }
        try await first.send(request("/hold"))
        try await eventually("the thread is busy") { hasBegun.isSet }
        for client in clients { try await client.send(request("/")) }
        isHeld.withLock { $0 = false }
        isHeld.wakeAll()
        try await eventually("all are answered") { answered.value == Self.requests }
        service.stop()
    }
}
