import CCurl
import GannetTestKit
import Testing

@testable import GannetHTTP

/// `Retry-After`, and the time for an answer.
@Suite(.timeLimit(.minutes(3))) struct PatienceTests {
    @Test(
        "A host gets the pause it asks for, up to an hour",
        arguments: [
            (429, "7", .seconds(7)), (503, "0", .zero), (429, "999999999999", .seconds(3600)), (503, "soon", nil), (429, "-1", nil),
            (503, "Fri, 31 Dec 9999 23:59:59 GMT", .seconds(3600)), (429, "Thu, 01 Jan 1970 00:00:00 GMT", .zero), (429, nil, nil),
        ] as [(Int, String?, Duration?)])
    func retryAfter(status: Int, value: String?, pause: Duration?) async throws {
        let fixture = try EngineFixture { $0.answer(status, headers: value.map { ["Retry-After: \($0)"] } ?? []) }
        let error = try await fixture.failure()
        #expect(error.kind == .status(status))
        #expect(error.retry == .throttled(pause))
    }

    @Test("An error that is no request for a pause has none", arguments: [404, 500])
    func otherStatus(status: Int) async throws {
        let fixture = try EngineFixture { $0.answer(status, headers: ["Retry-After: 7"]) }
        #expect(try await fixture.failure().retryAfter == nil)
    }

    @Test(
        "A transfer ends after the time for an answer when the headers do not end",
        arguments: ["", "HTTP/1.1 200 OK\r\nX: y\r\n", "HTTP/1.1 100 Continue\r\n\r\n"])
    func answer(beginning: String) async throws {
        let fixture = try EngineFixture {
            $0.answerTimeout = .milliseconds(300)
        } script: { peer in
            peer.send(beginning)
            return peer.waitForClose()
        }
        let error = try await fixture.failure()
        #expect(error.kind == .timeout(.response))
        #expect(error.detail == "no answer within 0.3 s")
        await fixture.origin.wait { $0 == .closed }
    }

    @Test("An answer has its whole time, also beside a transfer whose speed is looked at often")
    func answerBesideLooks() async throws {
        let gate = HostileServer.Gate()
        let server = try HostileServer(scripts: [
            [.readUntil("\r\n\r\n"), .wait(for: gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .silence],
            [.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"), .silence],
        ])
        let fixture = try EngineFixture {
            $0.minimumSpeedWindow = .milliseconds(100)
        } script: {
            $0.answer()
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let slow = Task { try await fixture.get(url: url + "slow") }
        try await server.accepted(1)
        #expect(try await fixture.failure(url: url + "stalled").kind == .timeout(.body))
        gate.open()
        #expect(try await slow.value.status == 200)
        try await server.stop()
    }

    @Test("A server that answers before the request is not asked again")
    func speaksFirst() async throws {
        // It has sent its greeting before the connection is used: the greeting is in the kernel's buffer.
        var state = TransferState(maximumBody: 10, maximumHeaders: 10)
        state.socketOpens()
        state.foundLeftover(onNewConnection: state.hasOpenedSocket)
        #expect(!state.hasFoundLeftover)
        #expect(state.failure(.init(code: CURLE_ABORTED_BY_CALLBACK, text: ""))?.kind == .protocolError)
        var reused = TransferState(maximumBody: 10, maximumHeaders: 10)
        reused.foundLeftover(onNewConnection: reused.hasOpenedSocket)
        #expect(reused.hasFoundLeftover)
        reused.startsAnew()
        reused.foundLeftover(onNewConnection: false)
        #expect(!reused.hasFoundLeftover)
        #expect(reused.failure(.init(code: CURLE_ABORTED_BY_CALLBACK, text: ""))?.kind == .protocolError)
    }

    @Test("The time for an answer does not bound the body")
    func slowBody() async throws {
        try await withGrowingTime(from: .milliseconds(200), upTo: .seconds(5)) { time in
            let fixture = try EngineFixture {
                $0.answerTimeout = time
                $0.minimumSpeedWindow = time * 2
            } script: { peer in
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na")
                return peer.waitForClose()
            }
            return try await fixture.failure().kind == .timeout(.body)
        }
    }
}
