import Testing

@testable import Server

@Suite struct RequestTests {
    private static let parameters = [
        Parameter("url", .url, required: true, ""), Parameter("limit", .number(1...100), ""),
        Parameter("state", .choice(["ready", "dead"]), ""),
        Parameter("refresh", .flag, ""), Parameter("queue", .name, ""),
    ]

    @Test func `a query is read as forms write it`() throws {
        let items = try QueryItems("url=http%3A%2F%2Fa%2F%3Fb%3D1%26c%2Bd+e&limit=7&refresh=true", Self.parameters)
        #expect(items.required("url") == "http://a/?b=1&c+d e")
        #expect(items.number("limit") == 7)
        #expect(items.flag("refresh"))
        #expect(items["state"] == nil)
    }

    @Test(arguments: [
        ("limit=7", "The parameter 'url' is missing."), ("url=a&url=b", "The parameter 'url' may come only once."),
        ("url=a&limit=0", "The parameter 'limit' takes a whole number from 1 to 100."), ("url=a&limit=1e1", "The parameter 'limit' takes"),
        ("url=a&limit=99999999999999999999", "The parameter 'limit' takes"), ("url=a&limit=", "The parameter 'limit' takes"),
        ("url=a&state=alive", "The parameter 'state' takes one of ready, dead."), ("url=a&refresh=yes", "The parameter 'refresh' takes"),
        ("url=a&queue=a%20b", "The parameter 'queue' takes 1 to 64 letters"), ("url=a&queue=", "The parameter 'queue' takes"),
        ("url=a&b=c", "The parameter 'b' is unknown: there are url, limit"), ("url=%", "A part of the query is not text"),
        ("url=%zz", "A part of the query is not text"), ("url=%ff", "A part of the query is not text"),
        ("url=a%00b", "A part of the query is not text"), ("url=", "The parameter 'url' is empty"),
        ("url=" + String(repeating: "a", count: 8193), "The parameter 'url' takes a URL of up to 8192 bytes."),
    ])
    func `a query that is not understood is refused with a sentence`(query: String, sentence: String) {
        let problem = #expect(throws: Problem.self) { try QueryItems(query[...], Self.parameters) }
        #expect(problem?.status == 400)
        #expect(problem?.detail.hasPrefix(sentence) == true, "\(problem?.detail ?? "")")
    }

    private static let table = EndpointTable(
        endpoints: [
            ("GET", "/v1/hosts"), ("PUT", "/v1/hosts/{host}"), ("DELETE", "/v1/hosts/{host}"), ("POST", "/v1/batches/{batch}/cancel"),
        ]
        .map { Endpoint(method: $0.0, path: $0.1, summary: $0.1) { _ in .now(HTTPServiceAnswer()) } })

    @Test func `a path finds its endpoint and the values in it`() throws {
        let (endpoint, values) = try Self.table.find(HTTPServiceRequest(method: "PUT", target: "/v1/hosts/%2A.a+b?limit=1"))
        #expect(endpoint.method == "PUT")
        #expect(values == ["host": "*.a+b"])
        #expect(try Self.table.find(HTTPServiceRequest(method: "HEAD", target: "/v1/hosts")).0.method == "GET")
    }

    @Test(arguments: [
        "/", "", "*", "http://other/v1/hosts", "/v1/hosts/", "/v1//hosts", "/v1/hosts/../hosts", "/v1/hosts/%", "/v1/batches//cancel",
        "/V1/hosts",
    ])
    func `a path that leads to nothing is not found`(path: String) {
        let problem = #expect(throws: Problem.self) { try Self.table.find(HTTPServiceRequest(method: "GET", target: path)) }
        #expect(problem?.status == 404 || problem?.status == 405)
    }

    @Test func `a wrong method is told the right ones`() {
        let problem = #expect(throws: Problem.self) { try Self.table.find(HTTPServiceRequest(method: "GET", target: "/v1/hosts/a")) }
        #expect(problem?.status == 405)
        #expect(problem?.headers.first?.value == "PUT, DELETE")
    }

    @Test(arguments: [
        ("bytes=0-9", ByteRange.part(0..<10)), ("bytes=90-", .part(90..<100)), ("bytes=-5", .part(95..<100)),
        ("bytes=-500", .part(0..<100)),
        ("bytes=0-999", .part(0..<100)), ("Bytes= 3 - 4 ", .part(3..<5)), ("bytes=100-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
        ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=0-99999999999999999999", .part(0..<100)), ("bytes=9-3", .whole),
        ("bytes=0-1,5-6", .whole), ("bytes=-", .whole), ("bytes=a-b", .whole), ("lines=0-1", .whole), ("bytes", .whole), ("", .whole),
    ])
    func `a range is read as RFC 9110 says`(header: String, range: ByteRange) { #expect(ByteRange(header, of: 100) == range) }

    @Test func `an empty body has no part`() {
        #expect(ByteRange("bytes=0-", of: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-1", of: 0) == .unsatisfiable)
        #expect(ByteRange(nil, of: 0) == .whole)
    }
}
