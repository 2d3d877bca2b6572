import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct GrowingBodyTests {
    private let head = GrowingBody.Head(finalURL: "http://a/", status: 200, headers: [:], length: nil)

    private func add(_ text: String, to body: GrowingBody) { Array(text.utf8).withUnsafeBytes { body.append($0) } }

    private func all(_ body: GrowingBody) async throws -> String {
        var bytes: [UInt8] = []
        while let piece = try await body.next(after: bytes.count) { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `readers that come early, in between and late read the same`() async throws {
        let body = GrowingBody()
        async let early = all(body)
        body.begin(head, in: [])
        add("one ", to: body)
        async let between = all(body)
        add("two ", to: body)
        add("three", to: body)
        #expect(String(decoding: body.finish(), as: UTF8.self) == "one two three")
        #expect(try await early == "one two three")
        #expect(try await between == "one two three")
        #expect(try await all(body) == "one two three")
    }

    @Test func `the head is told once so many bytes have come`() async throws {
        let body = GrowingBody()
        async let told = body.head(after: 5)
        body.begin(head, in: [])
        add("1234", to: body)
        add("5", to: body)
        #expect(await told?.status == 200)
        let short = GrowingBody()
        short.begin(head, in: [])
        add("1234", to: short)
        _ = short.finish()
        #expect(await short.head(after: 5) == nil)
    }

    @Test func `a reader of a body that fails gets what came, and then the failure`() async throws {
        let body = GrowingBody()
        body.begin(head, in: [])
        add("a part", to: body)
        body.fail()
        #expect(try await body.next(after: 0).map { String(decoding: $0, as: UTF8.self) } == "a part")
        await #expect(throws: GrowingBody.Failure.self) { try await body.next(after: 6) }
        #expect(await body.head(after: 1) == nil)
    }

    @Test func `a whole body does not fail any more`() async throws {
        let body = GrowingBody()
        body.begin(head, in: [])
        add("whole", to: body)
        _ = body.finish()
        body.fail()
        #expect(try await all(body) == "whole")
    }

    @Test func `a reader that is cancelled leaves`() async throws {
        let body = GrowingBody()
        let reader = Task { try await body.next(after: 0) }
        reader.cancel()
        await #expect(throws: GrowingBody.Failure.self) { try await reader.value }
    }
}
