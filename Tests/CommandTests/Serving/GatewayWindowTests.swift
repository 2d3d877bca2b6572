import Foundation
import GannetTestKit
import Testing

/// `gannet serve` and `gannet run --serve` as the window asks them.
@Suite(.timeLimit(.minutes(2))) struct GatewayWindowTests {
    private static let secret = "0123456789abcdef-right"

    private func post(_ urls: [String], batch: String, _ gateway: Gateway) async throws {
        let words = ["--data-binary", urls.joined(separator: "\n"), "-H", "Content-Type: text/plain"]
        #expect(try await gateway.ask("/v1/jobs?batch=\(batch)", words).status == 200)
    }

    @Test func `a browser signs in once, and another gateway with the same token takes its cookie`() async throws {
        let fleet = try await Fleet.start(files: 1)
        try fleet.folder.write(Array("\(Self.secret)\n".utf8), to: "tokens")
        let tokens = ["--token-file", fleet.folder.file("tokens")]
        let (one, other) = (try await fleet.gateway(tokens), try await fleet.gateway(tokens))
        let before = try await one.ask("/v1/session").json()
        #expect(before["needsToken"] as? Bool == true && before["signedIn"] as? Bool == false)
        #expect(try await one.ask("/v1/status").status == 401)
        #expect(try await one.ask("/v1/session", ["-X", "POST", "-H", "Authorization: Bearer \(Self.secret)x"]).status == 401)

        let answer = try await one.ask("/v1/session", ["-X", "POST", "-H", "Authorization: Bearer \(Self.secret)"])
        let header = try #require(answer.headers["set-cookie"])
        #expect(answer.status == 204 && header.contains("HttpOnly") && header.contains("SameSite=Strict") && !header.contains(Self.secret))
        let cookie = ["-H", "Cookie: \(header.prefix { $0 != ";" })"]
        #expect(try await one.ask("/v1/session", cookie).json()["signedIn"] as? Bool == true)
        for gateway in [one, other] {
            #expect(try await gateway.ask("/v1/status", cookie).status == 200)
            // Another page of this machine can have the cookie sent, and gets nothing done with it.
            let target = "/v1/fetch?url=\(fleet.origin.urls[0])"
            #expect(try await gateway.ask(target, cookie).status == 403)
            #expect(try await gateway.ask("/v1/pause", cookie + ["-X", "POST", "-H", "Origin: http://127.0.0.1:1"]).status == 403)
            #expect(try await gateway.ask("/v1/resume", cookie + ["-X", "POST", "-H", "Origin: \(gateway.url)"]).status == 200)
        }
        #expect(try await fleet.origin.requests().isEmpty)
        let out = try await one.ask("/v1/session", ["-X", "DELETE"] + cookie)
        #expect(out.status == 204 && out.headers["set-cookie"]?.contains("Max-Age=0") == true)
        try await one.stop()
        try await other.stop()
        try await fleet.stop()
    }

    @Test func `jobs are found by a part of their URL, counted, and changed by batch and URL`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        try await post((0..<30).map { fleet.origin.url("/Missing/\($0)") }, batch: "one", gateway)
        try await post((30..<40).map { fleet.origin.url("/missing/\($0)") }, batch: "two", gateway)
        func count(_ query: String) async throws -> Int? {
            let answer = try await gateway.ask("/v1/jobs/count?" + query).json()
            #expect(answer["atLeast"] as? Bool == false)
            return answer["count"] as? Int
        }
        func urls(_ query: String) async throws -> Set<String> {
            let jobs = try #require(try await gateway.ask("/v1/jobs?" + query).json()["jobs"] as? [[String: Any]])
            return Set(jobs.compactMap { ($0["url"] as? String)?.replacing(fleet.origin.url("/"), with: "") })
        }
        #expect(try await urls("state=ready&text=MISSING/3") == Set(["Missing/3"] + (30..<40).map { "missing/\($0)" }))
        for (query, expected) in [("text=missing/1", 11), ("batch=two", 10), ("text=nowhere", 0), ("", 40)] {
            #expect(try await count("state=ready&" + query) == expected, "\(query)")
        }
        #expect(try await fleet.outcome(fleet.work).status == 0)
        #expect(try await count("state=dead") == 40)
        #expect(try await count("state=dead&class=http-404&batch=one") == 30)

        let hosts = try #require(try await gateway.ask("/v1/jobs/hosts").json()["hosts"] as? [[String: Any]])
        #expect(hosts.count == 1 && hosts[0]["host"] as? String == fleet.host && hosts[0]["count"] as? Int == 40)

        let one = fleet.origin.url("/Missing/7")
        #expect(try await gateway.ask("/v1/jobs/retry?url=\(one)", ["-X", "POST"]).json()["count"] as? Int == 1)
        #expect(try await urls("state=ready") == ["Missing/7"])
        #expect(try await gateway.ask("/v1/jobs?state=dead&batch=two", ["-X", "DELETE"]).json()["count"] as? Int == 10)
        #expect(try await count("state=dead") == 29)
        func delete(_ query: String) async throws -> Int? {
            try await gateway.ask("/v1/jobs?\(query)", ["-X", "DELETE"]).json()["count"] as? Int
        }
        #expect(try await delete("state=ready&url=\(one)x") == 0)
        #expect(try await delete("state=ready&url=\(one)") == 1)
        #expect(try await count("state=ready") == 0)
        // A part of the URL changes the jobs that it finds, and no more than the question named.
        #expect(try await delete("state=dead&text=MISSING/1&limit=4") == 4)
        #expect(try await delete("state=dead&text=missing/1") == 7)
        #expect(try await gateway.ask("/v1/jobs/retry?text=missing/2", ["-X", "POST"]).json()["count"] as? Int == 11)
        #expect(try await count("state=dead") == 7)
        #expect(try await count("state=ready") == 11)
        let refused = try await gateway.ask("/v1/jobs?state=dead&host=http://example.com:8080/")
        #expect(refused.status == 400 && refused.body.contains("say 'example.com:8080'"))
        #expect(try await count("state=dead&host=\(fleet.host)") == 7)
        for host in ["127.0.0.1", "[::1]"] { #expect(try await count("state=dead&host=\(host)") == 0) }
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `pictures are shown also where the favourites cannot be read`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let link = fleet.folder.file("favourites.json")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fleet.folder.file("elsewhere"))
        let gateway = try await fleet.gateway(["--favourites", link])
        try await post([fleet.origin.urls[0]], batch: "one", gateway)
        let pictures = try await gateway.ask("/v1/pictures").json()
        #expect(pictures["waiting"] as? Int == 1 && pictures["batch"] as? String == "one")
        #expect((pictures["favouritesProblem"] as? String)?.contains("is a symbolic link") == true)
        let id = String(repeating: "0f", count: 16)
        #expect(try await gateway.ask("/v1/favourites/\(id)", ["-X", "PUT"]).status == 503)
        #expect(try await gateway.ask("/v1/favourites/x", ["-X", "PUT"]).status == 400)
        #expect(try await gateway.ask("/v1/kept/\(id)").status == 404)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `the page has all files of its folder, and a strict policy`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let folder = Repository.url("Sources/Server/Window")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count > 10)
        for name in names {
            let answer = try await gateway.ask(name == "index.html" ? "/?view=jobs&anything=goes" : "/window/\(name)")
            #expect(try answer.status == 200 && answer.body == String(contentsOf: folder.appending(path: name), encoding: .utf8), "\(name)")
            let policy = answer.headers["content-security-policy"] ?? ""
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'") && !policy.contains("unsafe"), "\(name)")
            let tag = try #require(answer.headers["etag"])
            #expect(try await gateway.ask("/window/\(name)", ["-H", "If-None-Match: \(tag)"]).status == 304)
        }
        #expect(try await gateway.ask("/window/..%2Findex.html").status == 404)
        let page = try await gateway.ask("/").body
        #expect(!page.contains("<style") && !page.contains(" style=") && page.components(separatedBy: "<script").count == 2)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `at a terminal the window stays after the run, and shows pictures that were in the folder before`() async throws {
        let site = try TemporaryFolder()
        let picture = MadePicture.png(8, 6)
        for name in ["a.png", "b.png"] { try site.write(picture, to: name) }
        let fleet = try await Fleet.start { options in
            options.fileCount = 1
            options.directives = "location /files/ { types { image/png png; } alias \(site.path)/; }"
        }
        let urls = ["a.png", "b.png"].map { fleet.origin.url("/files/\($0)") }
        try fleet.folder.write(Array(urls[0].utf8), to: "urls.txt")
        #expect(try await fleet.outcome(fleet.run).status == 0)
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        // The second run finds one picture and fetches one. The third has nothing to fetch.
        for fetched in [1, 0] {
            let screen = try await TmuxScreen.start()
            try await screen.run(Program.path, fleet.run + ["--serve"])
            let stays = "gannet: the window stays at "
            let rows = try await screen.wait { $0.joined(separator: " ").contains("until Ctrl-C.") }
            #expect(rows.joined(separator: " ").contains("\(fetched) URL"), "\(rows)")
            let line = try #require(rows.first { $0.hasPrefix(stays) }, "\(rows)")
            let url = try #require(line.dropFirst(stays.count).split(separator: " ").first).dropLast()
            func ask(_ target: String) async throws -> String {
                let words = ["--silent", "--fail", "--write-out", "%{content_type} %{size_download}", url + target]
                return try await ChildProcess.run(.init("curl", words)).output
            }
            let answer = try await ask("/v1/pictures?batch=run&order=oldest")
            let json = Data(answer[...(try #require(answer.lastIndex(of: "}")))].utf8)
            let list = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
            let shown = try #require(list["pictures"] as? [[String: Any]])
            #expect(shown.compactMap { $0["url"] as? String } == urls && list["waiting"] as? Int == 0, "\(list)")
            for item in shown {
                let (id, digest) = (try #require(item["id"] as? String), try #require(item["digest"] as? String))
                let kept = try await ask("/v1/kept/\(id)?digest=\(digest)")
                #expect(kept.hasSuffix("image/png \(picture.count)"), "\(kept)")
            }
            // Nobody would fetch a job that is put back now.
            #expect(try await ask("/v1/session").contains("\"runEnded\":true"))
            for change in ["/v1/jobs/retry", "/v1/pause"] {
                let words = ["--silent", "--request", "POST", "--write-out", " %{http_code}", url + change]
                let refused = try await ChildProcess.run(.init("curl", words)).output
                #expect(refused.hasSuffix(" 409") && refused.contains("Run the same command again"), "\(refused)")
            }
            try await screen.press("C-c")
            try await screen.waitForPrompt(after: "0")
            try await screen.stop()
        }
        #expect(try await fleet.json(["status"])["otherQueues"] as? [String] == [])
        try await fleet.stop()
    }

    @Test func `a run shows itself until it ends, with the bodies of its folder`() async throws {
        let fleet = try await Fleet.start(files: 8)
        let gate = try fleet.gateList(after: 4)
        let run = try fleet.start(fleet.run + ["--serve", "--verbose", "--drain-timeout", "0s"])
        let start = "gannet: the window of this run is "
        let line = try #require(try await run.errors.line { $0.hasPrefix(start) }, "\(run.errors.text)")
        let window = Gateway(process: run, url: String(line.dropFirst(start.count).dropLast()))
        _ = try #require(try await run.errors.line { $0.hasPrefix("gannet: fetched ") }, "\(run.errors.text)")
        let session = try await window.ask("/v1/session").json()
        #expect(session["batch"] as? String == "run" && session["needsToken"] as? Bool == false)
        #expect(try await window.ask("/").status == 200)
        // A body that was fetched is there, from the folder.
        let fetched = try #require(run.errors.lines.first { $0.hasPrefix("gannet: fetched ") }?.split(separator: " ")[2])
        let id = try #require(try await window.ask("/v1/explain?url=\(fetched)").json()["id"] as? String)
        let kept = try await window.ask("/v1/kept/\(id)", ["--head"])
        let body = try #require(fleet.origin.files.first { fetched.hasSuffix($0.path) })
        #expect(kept.status == 200 && kept.headers["content-length"] == "\(body.size)" && kept.headers["etag"] == "\"\(body.sha256)\"")
        run.signal(SIGINT)
        #expect(try await run.exitStatus == .exited(130))
        try await gate.stop()
        try await fleet.stop()
    }
}
