import Foundation
import GannetTestKit
import Testing

/// `--header`, by the real binary at a real origin.
@Suite(.timeLimit(.minutes(2))) struct HeaderTests {
    /// An origin whose bodies are the headers that came.
    private func start(_ more: String = "") async throws -> Fleet {
        try await Fleet.start {
            $0.fileCount = 1
            $0.directives = """
                location /echo {
                    default_type text/plain;
                    add_header Cache-Control "public, max-age=3600";
                    return 200 "$http_x_key|$http_authorization|$http_accept_language";
                }
                \(more)
                """
        }
    }

    private func get(_ fleet: Fleet, _ words: [String]) async throws -> String {
        let outcome = try await fleet.outcome(["get", fleet.origin.url("/echo")] + words + fleet.connection)
        return outcome.status == 0 ? outcome.output : "status \(outcome.status)"
    }

    @Test func `each job sends its batch's headers, and each variant is fetched and kept by itself`() async throws {
        let fleet = try await start()
        let url = fleet.origin.url("/echo")
        let variants = [
            [], ["--header", "X-Key: s3cret"], ["--header", "X-Key: s3cret2", "--header", "Accept-Language: de"],
            ["--header", "Authorization: Bearer s3cret3"],
        ]
        let bodies = ["||", "s3cret||", "s3cret2||de", "|Bearer s3cret3|"]
        var told = ""
        for (number, headers) in variants.enumerated() {
            told += try await fleet.text(["enqueue", url, url, "--batch", "b\(number)"] + headers)
        }
        let worked = try await fleet.outcome(["work", "--until-empty", "--verbose"] + fleet.local + fleet.connection)
        #expect(worked.status == 0, "\(worked.errors)")
        #expect(try await fleet.requests()["/echo"] == 4)
        for (headers, body) in zip(variants, bodies) { #expect(try await get(fleet, headers) == body) }
        #expect(try await get(fleet, ["--header", "X-Key: another"]) == "status 1")

        // One caller of the library finds what a job has brought.
        #expect(
            try await get(fleet, ["--fetch", "--header", "accept-language:  de", "--header", "x-key: s3cret2"] + fleet.local) == bodies[2])
        #expect(try await fleet.requests()["/echo"] == 4)
        #expect(try await get(fleet, ["--fetch", "--header", "X-Key: another"] + fleet.local) == "another||")

        // And nobody is told a value.
        let json = try await fleet.json(["batch", "show", "b2"])
        #expect(json["headers"] as? [String] == ["X-Key", "Accept-Language"])
        let explained = try await fleet.json(["explain", url] + variants[2])
        #expect(explained["cached"] as? Bool == true && explained["headers"] as? [String] == ["X-Key", "Accept-Language"])
        let plain = try await fleet.json(["explain", url])
        #expect(plain["cached"] as? Bool == true && plain["id"] as? String != explained["id"] as? String)
        for words in [
            ["batch", "show", "b2"], ["batch", "list"], ["status"], ["explain", url] + variants[2], ["jobs", "list"],
            ["get", url, "--meta"] + variants[2],
        ] { told += try await fleet.text(words) }
        #expect(!(told + worked.output + worked.errors + "\(json)\(explained)").contains("s3cret"))
        try await fleet.stop()
    }

    @Test func `a second attempt sends the batch's headers, and so does the worker that takes over from a killed worker`() async throws {
        let fleet = try await start()
        let answer = { (status: String) in
            [
                HostileServer.Step.readUntil("\r\n\r\n"),
                .send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"), .close,
            ]
        }
        let server = try HostileServer(scripts: [[.silence], answer("500 No"), answer("200 OK")])
        let url = "http://127.0.0.1:\(server.port)/x"
        _ = try await fleet.text(["enqueue", url, "--header", "X-Key: s3cret"])
        let worker = try fleet.start(["work", "--lease", "1s"] + fleet.local + fleet.connection)
        try await server.received("\r\n\r\n")
        worker.kill()
        let other = try await fleet.outcome(["work", "--until-empty", "--lease", "1s"] + fleet.local + fleet.connection)
        #expect(other.status == 0, "\(other.errors)")
        #expect(server.connections == 3)
        for number in 0..<3 {
            let request = String(decoding: server.received(by: number), as: UTF8.self)
            #expect(request.contains("\r\nX-Key: s3cret\r\n"), "\(number): \(request)")
        }
        #expect(!other.errors.contains("s3cret"))
        try await server.stop()
        try await fleet.stop()
    }

    @Test func `a dead job that is put back sends its batch's headers`() async throws {
        let fleet = try await start("location /gone { if ($http_x_key) { return 410; } return 404; }")
        _ = try await fleet.text(["enqueue", fleet.origin.url("/gone"), "--header", "X-Key: s3cret"])
        for _ in 0..<2 {
            let worked = try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection)
            #expect(!worked.errors.contains("s3cret"))
            let dead = try await fleet.text(["jobs", "list", "--state", "dead"])
            #expect(dead.contains("410") && !dead.contains("s3cret"), "\(dead)")
            _ = try await fleet.text(["jobs", "retry", "--yes"])
        }
        #expect(try await fleet.origin.requests().map(\.status) == [410, 410])
        try await fleet.stop()
    }

    @Test func `at a redirect to another origin credentials stay behind, and other headers do not`() async throws {
        let other = try await start()
        let fleet = try await start("location /away { return 302 \(other.origin.url("/echo")); }")
        let headers = ["X-Key: s3cret", "Authorization: Bearer s3cret", "Accept-Language: de"].flatMap { ["--header", $0] }
        let away = fleet.origin.url("/away")
        _ = try await fleet.text(["enqueue", away] + headers)
        #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection).status == 0)
        #expect(try await other.requests()["/echo"] == 1)
        #expect(try await fleet.text(["get", away] + headers) == "||de")
        #expect(try await fleet.text(["get", away, "--fetch", "--refresh"] + headers + fleet.local) == "||de")
        try await fleet.stop()
        try await other.stop()
    }

    @Test func `a run with other headers is another run, and fetches URLs whose files are in its folder`() async throws {
        let fleet = try await start()
        func run(_ headers: [String]) async throws -> String {
            let words = ["run", fleet.origin.url("/echo"), "-d", fleet.out, "--json"] + headers + fleet.local + fleet.connection
            let outcome = try await fleet.outcome(words)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(!(outcome.output + outcome.errors).contains("s3cret"))
            let line = try JSONSerialization.jsonObject(with: Data((outcome.output.split(separator: "\n").first ?? "").utf8))
            let row = try #require(line as? [String: Any])
            let file = try #require(row["file"] as? String)
            return "\(row["outcome"] as? String ?? "") " + String(decoding: try contents(ofFile: fleet.out + "/" + file), as: UTF8.self)
        }
        #expect(try await run([]) == "fetched ||")
        #expect(try await run(["--header", "X-Key: s3cret"]) == "fetched s3cret||")
        #expect(try await run(["--header", "X-Key: s3cret2"]) == "fetched s3cret2||")
        #expect(try await run(["--header", "X-Key: s3cret"]) == "cached s3cret||")
        #expect(try await run([]) == "cached ||")
        #expect(try await fleet.requests()["/echo"] == 3)
        try await fleet.stop()
    }

    @Test func `headers come from a file, from a pipe, and from the environment`() async throws {
        let fleet = try await start()
        try fleet.folder.write(Array("\u{feff}# ours\r\n\r\nX-Key: from a file\r\n  \nAccept-Language: de, en\n".utf8), to: "headers")
        let file = ["--header", "@" + fleet.folder.file("headers")]
        #expect(try await get(fleet, ["--fetch"] + file + fleet.local) == "from a file||de, en")
        #expect(try await get(fleet, ["--header", "X-Key: from a file", "--header", "Accept-Language: de, en"]) == "from a file||de, en")

        let words = ["get", fleet.origin.url("/echo"), "--fetch"] + fleet.local + fleet.connection
        let pipe = fleet.folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let script = "echo 'X-Key: from a pipe' > '\(pipe)' & \"$0\" \"$@\""
        let piped = try await fleet.outcome(script: script, words + ["--header", "@\(pipe)"])
        #expect(piped.output == "from a pipe||", "\(piped.errors)")
        let variable = try await fleet.outcome(words, with: ["GANNET_HEADER": "X-Key: a, b\nAccept-Language: de"])
        #expect(variable.output == "a, b||de", "\(variable.errors)")
        try await fleet.stop()
    }

    @Test(
        arguments: [
            ("s3cret", "The value of '--header' cannot be sent as a header: it has no colon; write 'Name: value'."),
            ("Host: s3cret", "'Host' is set by gannet itself."), ("Range: s3cret", "'Range' asks for a part of the body"),
            ("X-A: s3cret\nX-B: b", "'X-A' has a line break or another control character."), ("s3 cret: b", "is no header's name"),
            ("X-A:", "'X-A' has no value."),
            ("@/nowhere/s", "The file '/nowhere/s' of '--header' cannot be read: No such file or directory."),
            ("@/", "The file '/' of '--header' cannot be read: Is a directory."),
            ("@/dev/zero", "The file '/dev/zero' of '--header' has more than 65536 bytes."),
            ("@/dev/null", "The file '/dev/null' of '--header' has no header in it."),
        ])
    func `a header that cannot be sent is refused, and the error does not quote its value`(header: String, sentence: String) async throws {
        let program = Program(home: "/dev/null/none")
        for words in [["enqueue", "u"], ["run", "u", "-d", "out"], ["get", "u"], ["explain", "u"]] {
            let outcome = try await program.run(words + ["--header", header])
            #expect(outcome.status == 64 && outcome.errors.contains(sentence), "\(outcome.errors)")
            #expect(!outcome.errors.contains("s3cret") && outcome.output == "")
        }
    }

    @Test func `the error about too many, too long or malformed headers names their place`() async throws {
        let program = Program(home: "/dev/null/none")
        let folder = try TemporaryFolder()
        try folder.write(Array("A: b\n# c\nHost: s3cret\n".utf8), to: "bad")
        try folder.write([0x41, 0x3a, 0xff], to: "binary")
        let many = (0..<65).flatMap { ["--header", "X-\($0): s3cret"] }
        let long = (0..<3).flatMap { ["--header", "X-\($0): " + String(repeating: "s3cret00", count: 1000)] }
        for (words, sentence) in [
            (["--header", "@" + folder.file("bad")], "Line 3 of the file '\(folder.file("bad"))' cannot be sent as a header: 'Host'"),
            (["--header", "@" + folder.file("binary")], "has no text in line 1."), (many, "A batch has at most 64 request headers."),
            (["--header", "A: b", "--header", "s3cret"], "Value 2 of '--header' cannot be sent as a header: it has no colon"),
            (long, "have at most 16384 bytes together."),
        ] {
            let outcome = try await program.run(["enqueue", "u"] + words)
            #expect(outcome.status == 64 && outcome.errors.contains(sentence), "\(outcome.errors.prefix(300))")
            #expect(!outcome.errors.contains("s3cret"))
        }
    }
}
