import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

/// In processes of their own, because the limit is one of the process.
@Suite(.timeLimit(.minutes(3))) struct DescriptorShortageTests {
    /// Runs `body` while this process can open nothing.
    private static func withoutDescriptors<Value>(_ body: () async -> Value) async throws -> Value {
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let free = dup(0)
        close(free)
        var none = limit
        none.rlim_cur = rlim_t(free)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
        let value = await body()
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        return value
    }

    private static func kind(_ body: () async throws -> Download) async -> FetchError.Kind? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? FetchError)?.kind
        }
    }

    @Test("When no descriptor is left for a socket, a name or a file, the URL is not to blame")
    func shortage() async throws {
        try await inOwnProcess {
            let fixture = try EngineFixture { $0.answer(body: Array("hello".utf8)) }
            let url = fixture.origin.url("/")
            let other = ScriptedOrigin { $0.answer() }
            _ = try await fixture.get(url: url)

            let socket = try await Self.withoutDescriptors { await Self.kind { try await fixture.get(url: other.url("/")) } }
            #expect(socket == .systemLimit)
            let name = try await Self.withoutDescriptors { await Self.kind { try await fixture.get(url: "http://name.example/") } }
            #expect(name == .systemLimit)
            // Over the connection that is there already.
            let file = try await Self.withoutDescriptors { await Self.kind { try await fixture.get(url: url) } }
            #expect(file == .systemLimit)
            _ = try await fixture.get(url: other.url("/"))
        }
    }
}
