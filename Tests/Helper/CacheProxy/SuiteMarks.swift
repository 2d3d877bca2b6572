import GannetBase
import GannetFetch
import GannetHTTP

/// The headers with which the suite counts its requests, by URL.
///
/// They differ between requests that mean the same, so they are no part of a request to the library. Only the origin gets them.
final class SuiteMarks: Sendable {
    private struct State {
        var ofRequests: [String: [HeaderField]] = [:]
        /// By the test's id.
        var bodies: [String: [String?]] = [:]
    }

    private static let namesInRequests: Set = ["req-num", "test-id", "test-name"]
    private let state = Mutex(State())

    /// Notes the marks of a request; returns its other headers.
    func taken(from headers: [HeaderField], for url: String) -> [HeaderField] {
        let own = headers.filter { Self.namesInRequests.contains($0.name.lowercased()) }
        state.withLock { $0.ofRequests[url] = own }
        return headers.filter { !Self.namesInRequests.contains($0.name.lowercased()) }
    }

    func ofRequest(_ url: String) -> [HeaderField] { state.withLock { $0.ofRequests[url] } ?? [] }

    /// Notes the bodies of a test whose answers the suite describes to its origin (`PUT /config/ID`).
    func noteTest(_ target: String, _ description: [UInt8]) {
        struct Answer: Decodable {
            var body: String?
            enum CodingKeys: String, CodingKey { case body = "response_body" }
        }
        guard let id = target.split(separator: "/").last, let answers = try? JSONDecoder().decode([Answer].self, from: Data(description))
        else { return }
        state.withLock { $0.bodies[String(id)] = answers.map(\.body) }
    }

    /// The body of a failure, which the library does not hand out. It is the test's id unless the suite says otherwise.
    func bodyOfFailure(_ target: String, _ headers: ResponseHeaders) -> String {
        bodyOfFailure(target, request: headers["client-request-count"].flatMap { Int($0) } ?? 0)
    }

    /// - Parameter number: Of the request within its test; the first is 1.
    func bodyOfFailure(_ target: String, request number: Int) -> String {
        let parts = target.split(whereSeparator: { "/?".contains($0) })
        let id = parts.count > 1 ? String(parts[1]) : ""
        let bodies = state.withLock { $0.bodies[id] } ?? []
        return (bodies.indices.contains(number - 1) ? bodies[number - 1] : nil) ?? id
    }
}
