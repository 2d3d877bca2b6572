import GannetBase
import GannetHTTP
import Testing

@testable import Crawl

/// The permission of sites, and what their answers for robots.txt mean.
@Suite(.timeLimit(.minutes(3))) struct SitesTests {
    private static func permission(_ text: String, _ url: String, userAgent: String? = nil) async throws -> String {
        let sites = Sites(userAgent: userAgent) { _ in .success(Sites.File(bytes: Array(text.utf8), freshFor: .seconds(600))) }
        switch await sites.permission(for: try CanonicalURL(url)) {
        case .granted: return "granted"
        case .denied(let rule): return rule
        case .unknown(let error): return "\(error)"
        }
    }

    @Test(arguments: [
        ("gannet/1.0 (+https://h/)", "gannet"), ("Mozilla/5.0", "Mozilla"), ("my_bot-x 1", "my_bot-x"), ("7bot", "gannet"), ("ü", "gannet"),
    ])
    func `the product token is the first word of the user agent`(userAgent: String, token: String) {
        #expect(Sites.productToken(of: userAgent) == token)
    }

    @Test func `rules are about the path with its query, for the agent by its name, and never about robots.txt itself`() async throws {
        let text = "User-agent: gannet\nDisallow: /a?x=\nDisallow: /robots.txt\n\nUser-agent: *\nDisallow: /\n"
        #expect(try await Self.permission(text, "http://h/a?x=1") == "line 2 of http://h/robots.txt says 'Disallow: /a?x='")
        #expect(try await Self.permission(text, "http://h/a") == "granted")
        #expect(
            try await Self.permission(text, "http://u:p@h:8080/b", userAgent: "other/1")
                == "line 6 of http://h:8080/robots.txt says 'Disallow: /'")
        #expect(try await Self.permission(text, "https://h/robots.txt", userAgent: "other/1") == "granted")
    }

    @Test func `each origin is asked once for all jobs, and a port or a scheme makes another origin`() async throws {
        let asked = Mutex<[String]>([])
        let sites = Sites(userAgent: nil) { place in
            asked.withLock { $0.append(place) }
            return .success(Sites.File(bytes: [], freshFor: .seconds(600)))
        }
        for url in ["http://h/a", "http://h/b", "https://h/a", "http://h:81/a", "http://H:80/c"] {
            guard case .granted = await sites.permission(for: try CanonicalURL(url)) else {
                Issue.record("\(url)")
                continue
            }
        }
        #expect(asked.withLock { $0 } == ["http://h/robots.txt", "https://h/robots.txt", "http://h:81/robots.txt"])
    }

    /// Answers one request as a test says.
    private struct Engine: Downloader {
        let answer: @Sendable (DownloadRequest) -> Result<Download, FetchError>

        func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
            try answer(request).get()
        }
    }

    private static func fetched(
        _ answer: @escaping @Sendable (DownloadRequest) -> Result<Download, FetchError>
    ) async throws -> (String, String) {
        let request = DownloadRequest(url: "http://h/robots.txt", body: .memory(upTo: 1_000_000, thenFileIn: "/"))
        let download = try await RobotsDownloader(engine: Engine(answer: answer)).download(request)
        guard case .bytes(let bytes) = download.body else { return ("no bytes", "") }
        return (String(decoding: bytes, as: UTF8.self), download.headers["cache-control"] ?? "")
    }

    @Test(
        arguments: [
            (nil, "max-age=86400"), ("max-age=3600", "max-age=3600"), ("max-age=1", "max-age=300"), ("no-store", "max-age=300"),
            ("no-cache", "max-age=300"), ("private, max-age=9999999", "max-age=86400"),
        ] as [(String?, String)])
    func `a file is kept for as long as its origin says, within bounds`(control: String?, kept: String) async throws {
        let headers = ResponseHeaders(control.map { [("Cache-Control", $0), ("Set-Cookie", "a=b"), ("Vary", "*")] } ?? [])
        let (text, said) = try await Self.fetched { .success(Download(finalURL: $0.url, headers: headers, bytes: Array("rules".utf8))) }
        #expect(text == "rules" && said == kept)
    }

    @Test(arguments: [400, 401, 403, 404, 410, 451, 304])
    func `an answer that there is none allows everything`(status: Int) async throws {
        let (text, said) = try await Self.fetched { .failure(FetchError(kind: .status(status), url: $0.url)) }
        #expect(text.isEmpty && said == "max-age=86400")
    }

    @Test(arguments: [600, 699, 999])
    func `a status that HTTP does not have is a failure of the server, and no refusal of the URL`(status: Int) async throws {
        let error = await #expect(throws: FetchError.self) {
            try await Self.fetched { .failure(FetchError(kind: .status(status), url: $0.url)) }
        }
        #expect(error?.kind == .status(500) && error?.retry == .later && error?.detail.contains("\(status)") == true)
    }

    @Test(arguments: [FetchError.Kind.tooManyRedirects, .refusedRedirect])
    func `a redirect that leads nowhere allows everything`(kind: FetchError.Kind) async throws {
        #expect(try await Self.fetched { .failure(FetchError(kind: kind, url: $0.url)) }.0.isEmpty)
    }

    @Test(arguments: [FetchError.Kind.status(500), .status(503), .status(429), .status(408), .connect, .tls, .timeout(.body), .badEncoding])
    func `any other failure says nothing of the rules`(kind: FetchError.Kind) async throws {
        let error = await #expect(throws: FetchError.self) { try await Self.fetched { .failure(FetchError(kind: kind, url: $0.url)) } }
        #expect(error?.kind == kind)
    }
}
