import GannetBase
import GannetHTTP
import GannetPictures
import Server

extension FuzzTarget {
    /// The input is a request as a client writes it: a line with its method and target, and lines of headers.
    static let gateway = FuzzTarget(name: "gateway", maximumLength: 2048) {
        [
            "GET /v1/things?text=a+b%26&url=http%3A%2F%2Fh%2F&number=7\nHost: localhost:8080\nAccept: image/avif,image/webp;q=0",
            "POST /v1/things?flag=true&choice=b&seconds=2.5&minutes=-300&words=%C3%A9&name=a_b.c-1\nHost: 127.0.0.1\nContent-Length: 5",
            "GET /v1/things/%41%2f/parts\nHost: [::1]:80\nAuthorization: Bearer 0123456789abcdef0123456789abcdef",
            "DELETE /v1/open\nHost: evil.example\nOrigin: http://evil.example\nSec-Fetch-Site: cross-site\nUser-Agent: Mozilla/5.0",
            "GET /v1/open?class=http-404&class=timeout\nHost: localhost\nTransfer-Encoding: chunked\nContent-Length: 5\nHost: b",
            "HEAD /v1/open\nRange: bytes=10-\nIf-Range: \"a\"\nIf-None-Match: W/\"a,b\", \"c\"\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
            "GET /v1/open\nRange: bytes=-18446744073709551616\nIf-None-Match: *\nRange: bytes=0-9223372036854775807",
            "GET /v1/open\nCookie: a=b; gannet-session=1800000100.00ff; gannet-session=x",
            "GET /v1/jobs?state=dead&host=Example.com%3A80&class=timeout&cursor=0-0-0-0-0-0&limit=5&batch=b\nHost: localhost",
            "GET /v1/jobs/count?url=http%3A%2F%2Fh%2Fa&text=a&queue=q\nHost: localhost",
            "POST /v1/jobs?batch=b&priority=high\nHost: localhost\nContent-Type: application/x-ndjson; charset=utf-8\nContent-Length: 5",
            "PUT /v1/hosts/*.example.com?limit=3&intervalSeconds=0.5&pauseSeconds=9\nHost: localhost",
            "GET /v1/fetch?url=http%3A%2F%2Fh%2F\nHost: localhost\nCache-Control: max-age=5, only-if-cached\nGannet-Deadline: 2.5\nAccept-Language: de",
            "GET /v1/pictures?order=host&by=day&east=-300&picture=000102030405060708090a0b0c0d0e0f&first=1&count=2\nHost: localhost",
            "GET /v1/kept/000102030405060708090a0b0c0d0e0f?width=200&height=100&fit=cover\nHost: localhost\nAccept: image/avif",
            "POST /v1/batches/b%2F/cancel\nHost: localhost",
        ].map { Array($0.utf8) } + [cookie(at: 4_000_000_000), cookie(at: 1_000_000_000)]
    } check: { (input) throws(BrokenInvariant) in
        let request = request(of: input)
        try checkAnswer(to: request)
        try checkAccess(request)
        try checkSession(request)
        try checkConditions(request)
        try checkFormats(request)
        try checkFraming(request)
        try check(RunningGateway.answer(to: request))
    } prepare: {
        try await RunningGateway.start()
    }

    /// The body of an answer, in bytes.
    private static let size = 1000
    private static let now: Int64 = 1_800_000_000
    private static let secret = "0123456789abcdef0123456789abcdef"
    private static let tokens = ["another-token-of-many-bytes", secret].compactMap { try? Token($0, name: "t") }

    private static let parameters = [
        Parameter("text", .text, ""), Parameter("url", .url, ""), Parameter("number", .number(0...1000), ""), Parameter("flag", .flag, ""),
        Parameter("choice", .choice(["a", "b"]), ""), Parameter("seconds", .seconds, ""), Parameter("minutes", .minutes, ""),
        Parameter("words", .words(8), ""), Parameter("name", .name, ""), Parameter("class", .errorClass, ""),
    ]

    private static let table = EndpointTable(
        endpoints: [
            ("GET", "/v1/things"), ("POST", "/v1/things"), ("GET", "/v1/things/{thing}/parts"), ("GET", "/v1/open"), ("DELETE", "/v1/open"),
        ].map { method, path in
            Endpoint(
                method: method, path: path, summary: "", parameters: path.contains("{") ? [] : parameters, hasEffects: method != "GET",
                isOpen: path == "/v1/open", reply: { _ in .now(HTTPServiceAnswer()) })
        })

    private static func request(of input: [UInt8]) -> HTTPServiceRequest {
        // Lines are separated by bytes: a line break may combine with what follows.
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        let words = lines[0].split(separator: " ", maxSplits: 1)
        let headers = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return (name: String(name), value: String(line.dropFirst(name.count + 1).drop { $0 == " " }))
        }
        return HTTPServiceRequest(
            method: String(words.first ?? ""), target: words.count > 1 ? String(words[1]) : "/", headers: Array(headers))
    }

    // MARK: Requests

    private static func asked(_ request: HTTPServiceRequest) -> Result<QueryItems, Problem> {
        do throws(Problem) {
            let (endpoint, path) = try table.find(request)
            return .success(try QueryItems(request.query, path: path, endpoint.parameters))
        } catch {
            return .failure(error)
        }
    }

    private static func checkAnswer(to request: HTTPServiceRequest) throws(BrokenInvariant) {
        let items: QueryItems
        switch asked(request) {
        case .success(let found): items = found
        case .failure(let problem): return try check(problem)
        }
        let target = request.target.debugDescription
        if let number = items.number("number") { try require(0...1000 ~= number, "\(target): \(number)") }
        if let seconds = items.seconds("seconds") {
            try require(Duration.milliseconds(1)...Duration.seconds(86_400) ~= seconds, "\(target): \(seconds)")
        }
        if let minutes = items.minutes("minutes") { try require(-840...840 ~= minutes, "\(target): \(minutes)") }
        for (name, has) in [("number", items.number("number") != nil), ("seconds", items.seconds("seconds") != nil)] {
            try require(has == (items[name] != nil), "\(target): the value of \(name) is none")
        }
        try require(items["thing"]?.isEmpty != true, "\(target): a part of the path is empty")
        // Each byte of the values written with a percent sign.
        let names = ["text", "url", "number", "flag", "choice", "seconds", "minutes", "words", "name", "class"]
        let pairs = names.compactMap { name in items[name].map { (name, $0) } }
        let query = pairs.map { name, value in "\(name)=" + value.utf8.map { "%" + [$0].hexadecimal }.joined() }.joined(separator: "&")
        guard let again = try? QueryItems(query[...], parameters) else {
            throw BrokenInvariant(description: "\(target) is refused as \(query)")
        }
        try require(names.allSatisfy { again[$0] == items[$0] }, "\(target) and \(query) are two questions")
        for value in pairs.map(\.1) { try require(!value.utf8.contains(0), "\(target): a value has a NUL") }
    }

    private static func check(_ problem: Problem) throws(BrokenInvariant) {
        try require(400..<600 ~= problem.answer.status, "a problem has the status \(problem.answer.status)")
        try check(problem.answer)
    }

    private static func check(_ answer: HTTPServiceAnswer) throws(BrokenInvariant) {
        try require(200..<600 ~= answer.status, "an answer has the status \(answer.status)")
        for (name, value) in answer.headers {
            try require((name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "the header \(name) of an answer can end its line")
        }
        if answer.status < 400 { return }
        guard case .bytes(let body) = answer.body else { throw BrokenInvariant(description: "a problem is a stream") }
        try require(body.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "a problem has control characters: \(body)")
        try require(body.count <= 4096, "a problem has \(body.count) bytes")
    }

    // MARK: Who asks

    private static func checkAccess(_ request: HTTPServiceRequest) throws(BrokenInvariant) {
        guard let (endpoint, _) = try? table.find(request) else { return }
        let isOpen = request.path == "/v1/open"
        let isRead = ["GET", "HEAD"].contains(request.method)
        for (tokens, isReadOnly) in [([], false), (tokens, false), (tokens, true)] {
            var rules = AccessRules()
            (rules.tokens, rules.isReadOnly) = (tokens, isReadOnly)
            let holder: Int?
            do throws(Problem) {
                holder = try rules.check(request, endpoint)
            } catch {
                try check(error)
                continue
            }
            try require(isRead || !isReadOnly, "a server for reading alone takes \(request.method)")
            let host = request.header("host")?.lowercased() ?? ""
            if let origin = request.header("origin")?.lowercased() {
                try require(origin == "http://\(host)" || origin == "https://\(host)", "a page of \(origin) may ask \(host)")
            }
            if let site = request.header("sec-fetch-site") { try require(!site.hasPrefix("cross"), "a page of another site may ask") }
            if tokens.isEmpty {
                let isOwn = ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix($0 + ":") }
                try require(isOwn, "without tokens the server answers for \(host.debugDescription)")
            } else if !isOpen {
                let shown = request.headers("authorization") + request.headers("cookie")
                try require(holder != nil && !shown.isEmpty, "nobody is taken for a holder of a token")
                let isShown = shown.contains { $0.contains(secret) || $0.contains("another-token") || $0.contains("gannet-session=") }
                try require(isShown, "\(shown) is taken for a token")
            }
        }
    }

    private static func checkSession(_ request: HTTPServiceRequest) throws(BrokenInvariant) {
        let cookies = SessionCookie(isSecure: false)
        guard let holder = cookies.holder(request, in: tokens, now: now) else { return }
        let shown = request.headers("cookie").joined(separator: ";")
        // The end stands before the seal of the cookie that was taken.
        let ends = shown.split { "=.; ".contains($0) }.compactMap { Int64($0) }.filter { $0 > now && $0 < 1 << 53 }
        let seals = ends.map { end in cookies.header(for: tokens[holder], now: end - 7 * 86_400).prefix { $0 != ";" }.suffix(64) }
        try require(seals.contains { shown.contains($0) }, "\(shown.debugDescription) signs in as \(holder)")
        try require(cookies.holder(request, in: tokens.dropLast(tokens.count), now: now) == nil, "a cookie of no token signs in")
    }

    private static func cookie(at time: Int64) -> [UInt8] {
        let cookie = tokens.last.map { SessionCookie(isSecure: false).header(for: $0, now: time).prefix { $0 != ";" } } ?? ""
        return Array("GET /v1/things?text=a\nHost: localhost\nSec-Fetch-Site: same-origin\nCookie: \(cookie)".utf8)
    }

    // MARK: Which body

    private static func checkConditions(_ request: HTTPServiceRequest) throws(BrokenInvariant) {
        let conditions = ClientConditions(request)
        guard let tag = EntityTag(Array("\"a,b\"".utf8)) else { throw BrokenInvariant(description: "a tag is none") }
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let isCurrent = conditions.isCurrent(tag, lastModified: date, now: now)
        try require(!isCurrent || conditions.exist, "a client without conditions has the body")
        if request.headers("if-none-match").contains("*") { try require(isCurrent, "a client with any body has none") }
        for size in [size, 1, 0] {
            switch conditions.range(of: size, tag, lastModified: date) {
            case .whole: continue
            case .part(let range):
                try require(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= size, "the bytes \(range) of \(size)")
            case .unsatisfiable: break
            }
            try require(request.header("range") != nil && request.method == "GET", "a part that nobody wants")
        }
    }

    private static func checkFormats(_ request: HTTPServiceRequest) throws(BrokenInvariant) {
        let lines = request.headers("accept")
        let text = lines.joined(separator: ",").lowercased().filter { $0 != " " && $0 != "\t" }
        for side in [64, 4096] {
            let best = ThumbnailFormat.best(
                for: ThumbnailRequest(width: side, height: side, fit: .contain, format: .plain), accepting: lines)
            switch best {
            case .avif, .webp: try require(text.contains(best.mediaType), "\(best) for a client that takes \(text)")
            default: try require(best == .plain, "\(best) for a client that takes \(text)")
            }
        }
    }

    private static func checkFraming(_ request: HTTPServiceRequest) throws(BrokenInvariant) {
        guard RequestFraming.isClear(request.headers) else { return }
        let names = request.headers.map { $0.name.lowercased() }
        let count = { (name: String) in names.count { $0 == name } }
        try require(count("content-length") + count("transfer-encoding") <= 1 && count("host") <= 1, "\(names) are clear")
        for (name, value) in request.headers {
            try require(value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }, "a value of \(name) can end its line")
        }
    }
}
