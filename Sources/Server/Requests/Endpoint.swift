package import Crawl
internal import GannetBase

/// One thing that can be asked of the server. A table of them decides which request is whose, and is the source of the OpenAPI document.
package struct Endpoint: Sendable {
    package typealias Reply = @Sendable (EndpointRequest) throws(Problem) -> HTTPServiceReply

    let method: String
    /// Its parts in braces are parameters, such as `/v1/batches/{batch}`.
    package let path: String
    let summary: String
    package var parameters: [Parameter]
    /// Whether it changes something or has something fetched. Such endpoints are refused where a server is for reading alone.
    var hasEffects: Bool
    /// Whether it answers without a token: a check whether the server lives.
    var isOpen: Bool
    /// Whether its query is for a page in the browser, and not for the server.
    var hasOwnQuery: Bool
    /// The media types of answers by their statuses. Every endpoint may answer problems besides.
    var answers: [Int: [String]]
    /// The shape of its answers in JSON.
    var shape: AnswerShape?
    /// The media types of bodies that it takes.
    var takes: [String]
    var reply: Reply

    package init(
        method: String, path: String, summary: String, parameters: [Parameter] = [], hasEffects: Bool = true, isOpen: Bool = false,
        hasOwnQuery: Bool = false, answers: [Int: [String]] = [200: ["application/json"]], shape: AnswerShape? = nil,
        takes: [String] = [], reply: @escaping Reply
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.parameters = parameters
        self.hasEffects = hasEffects
        self.isOpen = isOpen
        self.hasOwnQuery = hasOwnQuery
        self.answers = answers
        self.shape = shape
        self.takes = takes
        self.reply = reply
    }

    /// The values of the parameters in a path; nil where the path is another's.
    func match(_ parts: [Substring]) -> [String: String]? {
        let own = path.split(separator: "/", omittingEmptySubsequences: false)
        guard own.count == parts.count else { return nil }
        var values: [String: String] = [:]
        for (own, part) in zip(own, parts) {
            if own.first == "{" {
                guard !part.isEmpty, let value = QueryItems.decoded(Substring(part.replacing("+", with: "%2B"))) else { return nil }
                values[String(own.dropFirst().dropLast())] = value
            } else if own != part {
                return nil
            }
        }
        return values
    }
}

/// A request of an endpoint whose parameters have been checked.
package struct EndpointRequest: Sendable {
    let request: HTTPServiceRequest
    let items: QueryItems
    /// The index of the client's token; nil where none is needed.
    let holder: Int?

    var isHead: Bool { request.method == "HEAD" }
}

/// All endpoints of a server.
package struct EndpointTable: Sendable {
    private let plain: [String: [Endpoint]]
    /// Endpoints with parameters in their paths.
    private let others: [Endpoint]

    package init(endpoints: [Endpoint]) {
        plain = Dictionary(grouping: endpoints.filter { !$0.path.contains("{") }) { $0.path }
        others = endpoints.filter { $0.path.contains("{") }
    }

    /// The endpoint of a request, and its parameters.
    package func find(_ request: HTTPServiceRequest) throws(Problem) -> (Endpoint, [String: String]) {
        guard request.target.utf8.first == UInt8(ascii: "/") else { throw .notFound }
        let method = request.method == "HEAD" ? "GET" : request.method
        var matches = (plain[String(request.path)] ?? []).map { ($0, [String: String]()) }
        if matches.isEmpty {
            let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
            matches = others.compactMap { endpoint in endpoint.match(parts).map { (endpoint, $0) } }
        }
        if let match = matches.first(where: { $0.0.method == method }) { return match }
        throw matches.isEmpty ? .notFound : .notAllowed(matches.flatMap { $0.0.method == "GET" ? ["GET", "HEAD"] : [$0.0.method] })
    }
}
