import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct MadeUpWebTests {
    /// A host of each kind, by hand.
    private static let deaths = WebDeath.allCases
    private static let kinds = WebURL.Kind.allCases

    /// The last host is alive and has a URL of each kind. All others are dead in one way each.
    private func web() async throws -> MadeUpWeb {
        var profile = WebProfile.usual
        profile.nameLatency = 0
        var hosts: [WebHost] = []
        for (number, death) in Self.deaths.enumerated() {
            var host = WebHost(number: number)
            host.fate = .dead(death)
            host.speaksTLS = death == .badCertificate
            hosts.append(host)
        }
        for number in hosts.count..<hosts.count + 2 {
            var host = WebHost(number: number)
            host.robots = .some
            host.speaksTLS = number == Self.deaths.count
            hosts.append(host)
        }
        var urls = Self.deaths.indices.map { WebURL(number: $0, host: $0, size: 100) }
        for kind in Self.kinds {
            let target = kind == .redirect ? hosts.count - 1 : nil
            urls.append(WebURL(number: urls.count, host: Self.deaths.count, kind: kind, size: 100_000, target: target))
        }
        return try await MadeUpWeb(WebPlan(profile, hosts: hosts, urls: urls))
    }

    private func url(_ web: MadeUpWeb, _ kind: WebURL.Kind) throws -> String {
        web.url(try #require(web.plan.urls.last { $0.kind == kind }).number)
    }

    private func dead(_ web: MadeUpWeb, _ death: WebDeath) throws -> WebHost {
        try #require(web.plan.hosts.first { $0.death == death })
    }

    private func command(_ web: MadeUpWeb, _ arguments: [String]) -> ChildProcess.Options {
        let names = web.plan.hosts.flatMap { host in
            [web.ports.plain, web.ports.tls, web.ports.refusing, web.ports.silent].flatMap {
                ["--resolve", "\(host.name):\($0):\(host.addressText)"]
            }
        }
        let usual = ["-q", "-sS", "--noproxy", "*", "--cacert", web.authority, "-o", "/dev/null", "-w", "%{http_code} %{size_download}"]
        return .init("curl", usual + names + arguments)
    }

    private func curl(_ web: MadeUpWeb, _ arguments: String...) async throws -> (status: ChildProcess.ExitStatus, said: String) {
        let outcome = try await ChildProcess.run(command(web, arguments))
        return (outcome.status, outcome.output)
    }

    @Test func `good and bad URLs of a host are as the plan says`() async throws {
        let web = try await web()
        let page = try await curl(web, url(web, .page))
        #expect(page.status == .exited(0) && page.said == "200 100000")
        let missing = try await curl(web, url(web, .missing))
        #expect(missing.said.hasPrefix("404"))
        let redirect = try await curl(web, "-L", url(web, .redirect))
        #expect(redirect.status == .exited(0) && redirect.said == "200 100000")
        #expect(try await curl(web, "-L", "--max-redirs", "3", url(web, .selfRedirect)).status == .exited(47))
        #expect(try await curl(web, url(web, .cut)).status == .exited(18))
        #expect(try await curl(web, "--compressed", url(web, .badEncoding)).status != .exited(0))
        #expect(try await curl(web, "--max-time", "0.3", url(web, .endless)).status == .exited(28))
        #expect(try await curl(web, web.ports.origin(of: web.plan.hosts[Self.deaths.count]) + "/robots.txt").said.hasPrefix("200"))
        let analysis = web.analysis()
        // The page and the redirect: both are good, and both were fetched.
        #expect(analysis.good == 2 && analysis.goodAnswered == 2)
        #expect(analysis.goodAt.count == 4)
    }

    @Test func `hosts that are dead at once fail as their kind does`() async throws {
        let web = try await web()
        func status(_ death: WebDeath, _ path: String = "/0.jpg") async throws -> ChildProcess.ExitStatus {
            try await curl(web, "--connect-timeout", "0.2", web.ports.origin(of: try dead(web, death)) + path).status
        }
        #expect(try await status(.refused) == .exited(7))
        #expect(try await status(.silentConnect) == .exited(28))
        #expect(try await status(.badCertificate) == .exited(60))
        #expect(try await status(.reset) == .exited(56))
        let robots = try await curl(web, web.ports.origin(of: try dead(web, .robotsError)) + "/robots.txt")
        #expect(robots.said.hasPrefix("500"))
        let kinds = web.audit().dead
        #expect(kinds["refused"]?.connections == 0 && kinds["silent-connect"]?.connections == 0)
        #expect(kinds["reset"]?.requests == 1)
    }

    @Test(arguments: [WebDeath.silentAnswer, .robotsSilent]) func `a silent host keeps a request until its client leaves`(
        death: WebDeath
    ) async throws {
        let web = try await web()
        let client = try ChildProcess(command(web, [web.ports.origin(of: try dead(web, death)) + "/robots.txt"]))
        try await eventually("the request is there") { web.record.requests.count == 1 }
        #expect(web.record.requests.first?.end == .inFlight)
        client.terminate()
        try await eventually("the client has left") { web.record.requests.first?.end == .left }
    }

    @Test func `requests that come together are answered in order on one connection`() async throws {
        let web = try await web()
        let host = try #require(web.plan.hosts.last)
        let client = try RawClient(.address(host.addressText, port: web.ports.plain))
        let target = try #require(web.plan.urls.first { $0.target != nil })
        let request = { (path: String) in "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n" }
        try await client.send(
            request("/robots.txt") + request(target.targetPath) + "GET /none HTTP/1.1\r\nConnection: Close\r\n\r\n")
        let answers = String(decoding: try await client.receive(), as: UTF8.self)
        #expect(answers.split(separator: "HTTP/1.1 200 OK\r\n", omittingEmptySubsequences: false).count == 3)
        #expect(answers.contains("HTTP/1.1 404"))
        #expect(web.record.requests.map(\.path) == [.robots, .target(Int32(target.number)), .other])
        #expect(web.record.requests.allSatisfy { $0.end == .complete && $0.inFlight == 1 })
        #expect(web.record.connections[host.number] == 1)
    }

    @Test func `a stopped web refuses connections`() async throws {
        let web = try await web()
        try await web.stop()
        #expect(try await curl(web, url(web, .page)).status == .exited(7))
    }
}
