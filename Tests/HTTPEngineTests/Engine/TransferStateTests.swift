import CCurl
import Foundation
import Testing

@testable import HTTPEngine

@Suite struct TransferStateTests {
    private var state = TransferState(maximumBody: 10, maximumHeaders: 100)
    private let local = IPAddress.v4(0x7f00_0001)

    private func kind(_ state: TransferState, _ code: CURLcode, isOutOfTime: Bool = false) -> FetchError.Kind? {
        state.failure(.init(code: code, text: "text", isOutOfTime: isOutOfTime))?.kind
    }

    private func header(_ count: Int, _ state: inout TransferState) -> Bool {
        [UInt8](repeating: 0x61, count: count).withUnsafeBytes { state.headerCame($0) }
    }

    @Test("A write that failed for no reason of ours is the URL's failure, not the disk's") mutating func writeError() {
        _ = state.headersEnded(status: 200)
        #expect(kind(state, CURLE_WRITE_ERROR) == .engine)
        state.storageFailed(StorageFailure(action: "write", path: "/f", errno: ENOSPC))
        #expect(kind(state, CURLE_WRITE_ERROR) == .storage)
    }

    @Test("Want of a descriptor is the machine's failure, wherever it shows", arguments: [EMFILE, ENFILE])
    mutating func descriptors(code: Int32) throws {
        state.socketFailed(code)
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .systemLimit)
        let detail = try #require(state.failure(.init(code: CURLE_COULDNT_CONNECT, text: ""))?.detail)
        #expect(detail.hasSuffix("; raise 'ulimit -n' or lower '--concurrency'"))
        state.socketFailed(EAFNOSUPPORT)
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .connect)
        state.socketFailed(code)
        state.socketOpens()
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .connect)
        for result in [CURLE_COULDNT_RESOLVE_HOST, CURLE_SSL_CACERT_BADFILE] {
            #expect(kind(state, result) != .systemLimit)
            #expect(state.failure(.init(code: result, text: "", lacksDescriptors: true))?.kind == .systemLimit)
        }
        state.storageFailed(StorageFailure(action: "create a file in", path: "/f", errno: code))
        #expect(kind(state, CURLE_WRITE_ERROR) == .systemLimit)
    }

    @Test("A refusal counts only where no other address of the host could be tried") mutating func refusal() throws {
        state.socketRefused(local, .loopback)
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .refusedAddress)
        let detail = try #require(state.failure(.init(code: CURLE_COULDNT_CONNECT, text: ""))?.detail)
        #expect(detail == "127.0.0.1 is a loopback address; --allow-net 127.0.0.1/32 permits it")
        state.socketOpens()
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .connect)
    }

    @Test("Each hop of a redirect is judged by itself") mutating func hops() {
        state.socketOpens()
        state.requestStarts()
        _ = state.headersEnded(status: 302)
        state.socketRefused(local, .loopback)
        #expect(kind(state, CURLE_COULDNT_CONNECT) == .refusedAddress)
        #expect(kind(state, CURLE_UNSUPPORTED_PROTOCOL) == .refusedRedirect)
    }

    @Test("A timeout has the phase it struck in") mutating func phases() {
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.resolve))
        state.socketOpens()
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.connect))
        state.requestStarts()
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.response))
        _ = state.headersEnded(status: 100)
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .timeout(.response))
        _ = state.headersEnded(status: 200)
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT) == .tooSlow)
        #expect(kind(state, CURLE_OPERATION_TIMEDOUT, isOutOfTime: true) == .timeout(.body))
    }

    @Test("The limits are exact") mutating func limits() {
        #expect(header(100, &state) == true)
        _ = state.headersEnded(status: 200)
        #expect(state.bodyBytesCame(10) == .write)
        #expect(kind(state, CURLE_OK) == nil)
        #expect(state.bodyBytesCame(1) == .stop)
        #expect(kind(state, CURLE_WRITE_ERROR) == .tooLarge)

        var other = TransferState(maximumBody: 10, maximumHeaders: 100)
        #expect(header(101, &other) == false)
        #expect(kind(other, CURLE_WRITE_ERROR) == .headersTooLarge)
    }

    @Test(
        "Only 200 to 299 succeeds",
        arguments: [(199, false), (200, true), (204, true), (299, true), (300, false), (304, false), (404, false)])
    mutating func statuses(status: Int, succeeds: Bool) {
        _ = state.headersEnded(status: status)
        #expect(kind(state, CURLE_OK) == (succeeds ? nil : .status(status)))
    }

    @Test("An error's page is not stored, and read no further than the limit") mutating func errorPage() {
        _ = state.headersEnded(status: 404)
        #expect(state.bodyBytesCame(TransferState.discardLimit) == .discard)
        #expect(state.bodyBytesCame(1) == .stop)
        #expect(kind(state, CURLE_WRITE_ERROR) == .status(404))
        // However its transfer ends, it was a 404.
        #expect(kind(state, CURLE_RECV_ERROR) == .status(404))
    }

    @Test("A part is a success only for who asked for one") mutating func part() {
        _ = state.headersEnded(status: 206)
        #expect(kind(state, CURLE_OK) == .protocolError)
        #expect(state.failure(.init(code: CURLE_OK, text: "", sentRange: true)) == nil)
    }
}
