import Foundation
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct FailureTests {
    @Test(
        "A status other than success is an error of that status, with the headers that came",
        arguments: [300, 304, 400, 404, 429, 500, 503, 599, 999])
    func status(status: Int) async throws {
        let fixture = try EngineFixture { peer in
            guard status != 304 else { return peer.send("HTTP/1.1 304 X\r\nExpires: 0\r\n\r\n") }
            return peer.answer(status, headers: ["Expires: 0"], body: Array("sorry".utf8))
        }
        let error = try await fixture.failure()
        #expect(error.kind == .status(status))
        #expect(error.headers["expires"] == "0")
    }

    @Test(
        "An answer that breaks is an error of its kind",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", .truncated),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello", .truncated),
            ("HTTP/1.1 404 No\r\nContent-Length: 10\r\n\r\nhello", .status(404)),
            ("", .reset),
            ("hello", .protocolError),
            ("HTTP/7.0 200 OK\r\n\r\n", .protocolError),
            ("HTTP/1.1 206 Part\r\nContent-Length: 5\r\n\r\nhello", .protocolError),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n", .tooLarge),
            ("HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: file:///etc/passwd\r\n\r\n", .refusedRedirect),
            ("HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: ftp://127.0.0.1/\r\n\r\n", .refusedRedirect),
            ("HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: http://[bad/\r\n\r\n", .refusedRedirect),
            ("HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: http://127.0.0.2:1/\r\n\r\n", .refusedAddress),
            ("HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: http://[::1]:1/\r\n\r\n", .refusedAddress),
        ] as [(String, FetchError.Kind)])
    func broken(answer: String, kind: FetchError.Kind) async throws {
        let fixture = try EngineFixture { peer in
            peer.send(answer)
            return false
        }
        #expect(try await fixture.failure().kind == kind)
    }

    @Test(
        "An endless answer ends at its limit",
        arguments: [
            ("HTTP/1.1 200 OK\r\n\r\n", "body", .tooLarge),
            ("HTTP/1.1 404 No\r\n\r\n", "body", .status(404)),
            ("HTTP/1.1 200 OK\r\n", "X-A: b\r\n", .headersTooLarge),
            ("HTTP/1.1 200 OK\r\nX: ", "x", .headersTooLarge),
            ("", "HTTP/1.1 100 Continue\r\n\r\n", .headersTooLarge),
        ] as [(String, String, FetchError.Kind)])
    func endless(start: String, more: String, kind: FetchError.Kind) async throws {
        let fixture = try EngineFixture {
            $0.maximumBody = 1_000_000
        } script: { peer in
            peer.send(start)
            let many = Array(String(repeating: more, count: 4096).utf8)
            while peer.send(many) {}
            return false
        }
        #expect(try await fixture.failure().kind == kind)
    }

    @Test(
        "The limit on bodies holds for kept bytes, and not for an announced length without a body",
        arguments: [("404 No", FetchError.Kind.status(404)), ("500 No", .status(500)), ("200 OK", .tooLarge)])
    func largeBody(status: String, kind: FetchError.Kind) async throws {
        let fixture = try EngineFixture {
            $0.maximumBody = 10
        } script: { peer in
            peer.send("HTTP/1.1 \(status)\r\nContent-Length: 11\r\n\r\nhello world")
            return true
        }
        #expect(try await fixture.failure().kind == kind)
    }

    @Test("A redirect with a page is followed, even with a small limit on bodies")
    func largeRedirect() async throws {
        let fixture = try EngineFixture {
            $0.maximumBody = 5
        } script: { peer in
            if peer.path == "/" {
                peer.send("HTTP/1.1 302 X\r\nLocation: /there\r\nContent-Length: 11\r\n\r\nhello world")
            } else {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            }
            return true
        }
        #expect(try await fixture.get().byteCount == 5)
    }

    @Test("A redirect loop ends at the limit")
    func loop() async throws {
        let fixture = try EngineFixture { $0.answer(302, headers: ["Location: /"]) }
        #expect(try await fixture.failure().kind == .tooManyRedirects)
    }

    @Test("An address that is not permitted gets no connection, by number or by name", arguments: ["127.0.0.1", "localhost", "0x7f.1"])
    func refused(host: String) async throws {
        let fixture = try EngineFixture(options: { $0.allowedNetworks = [] }, script: { $0.answer() })
        let error = try await fixture.failure(url: "http://\(host):\(fixture.origin.port)/")
        #expect(error.kind == .refusedAddress)
        #expect(error.description.contains(" is not allowed"))
        #expect(!error.isRetryable)
    }

    @Test("An address reached by a redirect is named with it, and the message does not say how to permit it")
    func redirectedToRefused() async throws {
        let fixture = try EngineFixture { $0.answer(302, headers: ["Location: http://me:pw@169.254.169.254/latest"]) }
        let error = try await fixture.failure()
        #expect(error.kind == .refusedAddress)
        #expect(error.detail == "redirected to http://169.254.169.254/latest: 169.254.169.254 is a cloud metadata address")
        let own = try await fixture.failure(url: "http://169.254.169.254/")
        #expect(own.detail == "169.254.169.254 is a cloud metadata address")
    }

    @Test("A port where nobody listens is a failed connection, not a refused address")
    func unreachable() async throws {
        let fixture = try EngineFixture()
        let unused = ScriptedOrigin { _ in false }.port
        #expect(try await fixture.failure(url: "http://127.0.0.1:\(unused)/").kind == .connect)
    }

    @Test("A name that cannot exist is a failed look-up")
    func unknownName() async throws {
        let fixture = try EngineFixture(options: { $0.timeout = .seconds(20) }, script: { $0.answer() })
        let kind = try await fixture.failure(url: "http://nowhere.invalid/").kind
        // Without any name server the resolver may take longer than we do.
        #expect(kind == .dns(.noSuchName) || kind == .dns(.nobodyAnswers))
    }

    @Test("A text that is no URL is refused before any request")
    func invalid() async throws {
        let fixture = try EngineFixture()
        let error = try await fixture.failure(url: "file:///etc/passwd")
        #expect(error.kind == .invalidURL)
        #expect(error.description.contains("only http and https are fetched, not 'file'"))
    }

    @Test(
        "A transfer from a server that never answers, or falls silent, ends in time",
        arguments: [
            ("", .timeout(.response)), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na", .timeout(.body)),
        ] as [(String, FetchError.Kind)])
    func silent(answer: String, kind: FetchError.Kind) async throws {
        let fixture = try EngineFixture {
            $0.timeout = .milliseconds(1500)
        } script: { peer in
            peer.send(answer)
            return peer.waitForClose()
        }
        #expect(try await fixture.failure().kind == kind)
        await fixture.origin.wait { $0 == .closed }
    }

    @Test(
        "A folder that cannot hold the body is a storage error with the system's reason",
        arguments: ["/dev/null/missing", "/proc", "/dev/null"])
    func storage(folder: String) async throws {
        let fixture = try EngineFixture { $0.answer(body: [1, 2, 3]) }
        let request = DownloadRequest(url: fixture.origin.url("/"), body: .file(in: folder))
        let error = await #expect(throws: FetchError.self) { try await fixture.engine.download(request) }
        #expect(error?.kind == .storage)
        #expect(error?.detail.contains("cannot create a file in \(folder): ") == true)
    }
}
