import CCurl
import Foundation
import Testing

@testable import GannetHTTP

@Suite struct TransferStateTests {
    private var state = TransferState(maximumBody: 10, maximumHeaders: 100)
    private let local = IPAddress.v4(0x7f00_0001)

    private func kind(_ state: TransferState, _ code: CURLcode) -> FetchError.Kind? {
        state.failure(.init(code: code, text: "text"))?.kind
    }

    @Test("A write that failed for no known reason is the URL's failure, not the disk's") mutating func writeError() {
        state.headersEnded(status: 200)
        #expect(kind(state, CURLE_WRITE_ERROR) == .engine)
        state.stop = .storage(StorageFailure(action: "write", path: "/f", errno: ENOSPC))
        #expect(kind(state, CURLE_WRITE_ERROR) == .storage)
    }

    @Test("A shortage of descriptors is the machine's failure, in every result of libcurl", arguments: [EMFILE, ENFILE])
    mutating func descriptors(code: Int32) throws {
        state.socketError = code
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .systemLimit)
        let detail = try #require(state.failure(.init(code: CURLE_COULDNT_CONNECT, text: ""))?.detail)
        #expect(detail.hasSuffix("; raise 'ulimit -n', or make fewer requests at once"))
        state.socketError = EAFNOSUPPORT
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .connect)
        state.socketError = code
        state.socketOpens()
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .connect)
        for result in [CURLE_COULDNT_RESOLVE_HOST, CURLE_SSL_CACERT_BADFILE] {
            #expect(kind(state, result) != .systemLimit)
            #expect(state.failure(.init(code: result, text: "", lacksDescriptors: true))?.kind == .systemLimit)
        }
        state.stop = .storage(StorageFailure(action: "create a file in", path: "/f", errno: code))
        #expect(kind(state, CURLE_WRITE_ERROR) == .systemLimit)
    }

    @Test("A refusal counts only where no other address of the host could be tried") mutating func refusal() throws {
        state.socketRefused(local, .loopback)
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .refusedAddress)
        let detail = try #require(state.failure(.init(code: CURLE_COULDNT_CONNECT, text: ""))?.detail)
        #expect(detail == "127.0.0.1 is a loopback address, and the network 127.0.0.1/32 is not allowed")
        state.socketOpens()
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .connect)
    }

    @Test("Each hop of a redirect is judged by itself") mutating func hops() {
        state.socketOpens()
        state.requestStarts()
        state.headersEnded(status: 302)
        state.redirects()
        state.socketRefused(local, .loopback)
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .refusedAddress)
        #expect(kind(state, CURLE_UNSUPPORTED_PROTOCOL) == .refusedRedirect)
        let failure = state.failure(.init(code: CURLE_COULDNT_CONNECT, text: "", finalURL: "http://h/;sid=s/?token=t"))
        #expect(failure?.detail == "redirected to http://h/;sid=…/?token=…: 127.0.0.1 is a loopback address")
    }

    @Test("A request whose connection ended without an answer is made again, twice, but not after a part of an answer")
    mutating func unanswered() {
        state.socketOpens()
        #expect(!state.wasLeftUnanswered(CURLE_HTTP2))
        state.requestStarts()
        #expect(state.wasLeftUnanswered(CURLE_HTTP2))
        #expect(!state.wasLeftUnanswered(CURLE_SEND_ERROR))
        // libcurl has taken another used connection.
        state.requestStarts()
        for code in [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING] { #expect(state.wasLeftUnanswered(code)) }
        for code in [CURLE_OK, CURLE_HTTP2_STREAM, CURLE_OPERATION_TIMEDOUT] { #expect(!state.wasLeftUnanswered(code)) }
        var answered = state
        _ = answered.headerCame(10)
        #expect(!answered.wasLeftUnanswered(CURLE_RECV_ERROR))
        var late = state
        late.stop = .failure(.timeout(.response), "")
        #expect(!late.wasLeftUnanswered(CURLE_RECV_ERROR))
        #expect(kind(late, CURLE_OPERATION_TIMEDOUT) == .timeout(.response))
        #expect(TransferState.seconds(.seconds(30)) == "30 s")
        for _ in 0..<2 {
            #expect(state.wasLeftUnanswered(CURLE_HTTP2))
            state.startsAnew()
            state.socketOpens()
            state.requestStarts()
        }
        #expect(!state.wasLeftUnanswered(CURLE_HTTP2))
        // The next hop is another server's.
        state.redirects()
        state.requestStarts()
        #expect(state.wasLeftUnanswered(CURLE_HTTP2))
    }

    @Test("A proxy's answer before the request is no part of the request's answer") mutating func proxyFirst() {
        _ = state.headerCame(10)
        state.requestStarts()
        #expect(state.wasLeftUnanswered(CURLE_HTTP2))
    }

    @Test("One byte is no plural", arguments: [(1, "more than 1 byte"), (2, "more than 2 bytes")])
    func plurals(limit: Int64, detail: String) {
        var state = TransferState(maximumBody: limit, maximumHeaders: 100)
        state.headersEnded(status: 200)
        _ = state.transferred(Int(limit) + 1)
        #expect(state.failure(.init(code: CURLE_WRITE_ERROR, text: ""))?.detail == detail)
    }

    @Test("A timeout has the phase in which it occurred") mutating func phases() {
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.resolve))
        state.socketOpens()
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.connect))
        state.requestStarts()
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.response))
        state.headersEnded(status: 100)
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.response))
        state.headersEnded(status: 200)
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.body))
        var slow = state
        #expect(slow.looked(.moves) == true)
        #expect(slow.looked(.isSlow(bytes: 1, within: .milliseconds(30_012))) == false)
        #expect(slow.failure(.init(code: CURLE_OPERATION_TIMEDOUT, text: ""))?.detail == "1 byte in 30 s")
        #expect(kind(slow, CURLE_OPERATION_TIMEDOUT) == .tooSlow)
        #expect(!slow.brokeOff(.tooSlow))
        #expect(state.looked(.standsStill(for: .milliseconds(312))) == false)
        #expect(state.failure(.init(code: CURLE_OPERATION_TIMEDOUT, text: ""))?.detail == "nothing came for 0.312 s")
        #expect(state.brokeOff(.timeout(.body)))
    }

    @Test("An answer may be some times larger than its body, and not more") mutating func framing() {
        state.headersEnded(status: 200)
        _ = state.transferred(2)
        #expect(state.tookFromWire(128 + (1 << 20)) == true)
        #expect(state.tookFromWire(129 + (1 << 20)) == false)
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .protocolError)
    }

    @Test("A body's rest counts with its beginning, and the part must not say more than its range") mutating func rest() {
        state.headersEnded(status: 200)
        _ = state.announced(9)
        _ = state.transferred(4)
        _ = state.unpacked(4)
        #expect(state.brokeOff(.truncated))
        state.asksForRest()
        #expect(!state.brokeOff(.truncated))
        state.requestStarts()
        state.headersEnded(status: 206)
        #expect(state.goesOn(to: 8, of: 9) == true)
        #expect(state.transferred(4) == .write)
        #expect(state.unpacked(4) == true)
        #expect(kind(state, CURLE_OK) == .truncated)
        #expect(state.transferred(1) == .stop)
        #expect(kind(state, CURLE_WRITE_ERROR) == .protocolError)
        var large = TransferState(maximumBody: 10, maximumHeaders: 100)
        #expect(large.goesOn(to: 11, of: 11) == false)
    }

    @Test("The limits are exact") mutating func limits() {
        #expect(state.headerCame(100) == true)
        state.headersEnded(status: 200)
        #expect(state.transferred(10) == .write)
        #expect(kind(state, CURLE_OK) == nil)
        #expect(state.transferred(1) == .stop)
        #expect(kind(state, CURLE_WRITE_ERROR) == .tooLarge)

        var other = TransferState(maximumBody: 10, maximumHeaders: 100)
        #expect(other.headerCame(101) == false)
        #expect(kind(other, CURLE_WRITE_ERROR) == .headersTooLarge)
    }

    @Test(
        "Only 200 to 299 succeeds",
        arguments: [(199, false), (200, true), (204, true), (299, true), (300, false), (304, false), (404, false)])
    mutating func statuses(status: Int, succeeds: Bool) {
        state.headersEnded(status: status)
        #expect(kind(state, CURLE_OK) == (succeeds ? nil : .status(status)))
    }

    @Test("An error's page is not stored, and read no further than the limit") mutating func errorPage() {
        state.headersEnded(status: 404)
        #expect(state.transferred(TransferState.discardLimit) == .discard)
        #expect(state.transferred(1) == .stop)
        #expect(kind(state, CURLE_WRITE_ERROR) == .status(404))
        // However its transfer ends, it was a 404.
        #expect(kind(state, CURLE_RECV_ERROR) == .status(404))
    }

    @Test("The decoded body has the same limit as the encoded one") mutating func unpacked() {
        state.headersEnded(status: 200)
        #expect(state.transferred(1) == .write)
        #expect(state.unpacked(10) == true)
        #expect(state.unpacked(1) == false)
        #expect(kind(state, CURLE_WRITE_ERROR) == .tooLarge)
    }

    @Test("The limit on headers is one for all hops") mutating func headersOfHops() {
        #expect(state.headerCame(60) == true)
        state.headersEnded(status: 302)
        state.redirects()
        #expect(state.headerCame(41) == false)
    }

    @Test("Not modified is an answer to a conditional request only") func notModified() {
        var conditional = TransferState(maximumBody: 10, maximumHeaders: 100, isConditional: true)
        conditional.headersEnded(status: 304)
        #expect(kind(conditional, CURLE_OK) == nil)
        #expect(!conditional.hasBody)
    }

    @Test("A part is a success only for who asked for one") mutating func part() {
        state.headersEnded(status: 206)
        #expect(kind(state, CURLE_OK) == .protocolError)
        #expect(state.failure(.init(code: CURLE_OK, text: "", sentRange: true)) == nil)
    }
}
