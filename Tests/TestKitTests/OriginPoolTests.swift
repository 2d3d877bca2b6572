import GannetTestKit
import Testing

@Suite struct OriginPoolTests {
    private let pool = OriginPool()

    private func ask(_ origin: Origin, _ path: String) async throws {
        try await ChildProcess.succeed("curl", ["--silent", "--noproxy", "*", "--output", "/dev/null", origin.url(path)])
    }

    @Test func `an origin that comes back tells of no earlier request, and the next test with its options has it`() async throws {
        let first = try await pool.take(.init { $0.fileCount = 3 })
        try await ask(first, "/1.bin")
        await pool.giveBack(first)
        let other = try await pool.take(.init { $0.fileCount = 2 })
        #expect(other.files.count == 2)
        let second = try await pool.take(.init { $0.fileCount = 3 })
        #expect(second === first)
        #expect(try await second.requests().isEmpty)
        try await ask(second, "/2.bin")
        #expect(try await second.requests() == [.init(method: "GET", path: "/2.bin", status: 200)])
    }

    @Test func `an origin that was changed or stopped, or has directives, does not come back`() async throws {
        let changes: [(Origin) async throws -> Void] = [
            { try $0.replace("/1.bin", by: [1, 2]) }, { try $0.remove("/1.bin") }, { try await $0.stop() },
        ]
        for change in changes {
            let origin = try await pool.take(.init { $0.fileCount = 2 })
            try await change(origin)
            await pool.giveBack(origin)
            #expect(try await pool.take(.init { $0.fileCount = 2 }) !== origin)
        }
        let options = Origin.Options { $0.directives = "location = /a { return 200; }" }
        let special = try await pool.take(options)
        await pool.giveBack(special)
        #expect(try await pool.take(options) !== special)
    }
}
