import Foundation
import GannetTestKit
import Testing

/// `run` as a person at a terminal sees it.
@Suite(.timeLimit(.minutes(3))) struct BarOnTerminalTests {
    private static func isBar(_ row: String) -> Bool { row.hasPrefix("[") && row.contains(" of ") }

    @Test func `a run draws one bar, with messages above it, through resizes, and leaves a line`() async throws {
        let fleet = try await Fleet.start(files: 30)
        let gate = try fleet.slowList(after: 10, more: [fleet.origin.url("/missing.bin")])
        let screen = try await TmuxScreen.start()
        try await screen.run(Program.path, fleet.run)

        // All but the two that hang have ended, and it is known who is slow.
        let isReady = { (rows: [String]) in
            rows.contains { Self.isBar($0) && $0.contains("31 of 33") } && rows.contains { $0.hasPrefix("slowest: 127.0.0.1") }
        }
        let small = try await screen.wait(for: isReady)
        #expect(small.contains { $0.hasPrefix("failed: ") && $0.contains("missing.bin") }, "\(small)")
        #expect(small.contains("1 failed: http-404 1"), "\(small)")
        #expect(small.count(where: Self.isBar) == 1, "\(small)")
        #expect(small.first { Self.isBar($0) }?.contains("] ") == true && small.allSatisfy { $0.count < 80 })

        for (columns, rows) in [(200, 50), (80, 24)] {
            try await screen.resize(columns: columns, rows: rows)
            let before = try await screen.rows().first(where: Self.isBar)
            // Drawn again: how many bytes have come and how fast changes all the time.
            let seen = try await screen.wait { rows in
                rows.contains { Self.isBar($0) && $0 != before } && rows.contains { $0.hasPrefix("slowest: ") }
            }
            #expect(seen.count(where: Self.isBar) == 1, "\(seen)")
            #expect(seen.count(where: { $0.hasPrefix("slowest: ") }) == 1, "\(seen)")
            #expect(seen.count(where: { $0.hasPrefix("1 failed: ") }) == 1, "\(seen)")
        }
        try await screen.press("C-c")
        try await screen.wait { rows in rows.contains { $0.contains("stopping; 2 URLs in flight") } && rows.contains(where: Self.isBar) }
        try await screen.resize(columns: 40, rows: 24)
        try await screen.wait { rows in rows.contains { Self.isBar($0) || $0.contains("31 of 33") } && rows.allSatisfy { $0.count <= 40 } }
        try await screen.press("C-c")
        let last = try await screen.waitForPrompt(after: "130")
        #expect(!last.contains { $0.hasPrefix("slowest: ") }, "\(last)")
        #expect(last.joined(separator: " ").contains("interrupted before it was done"), "\(last)")
        try await gate.stop()
        try await screen.stop()
        try await fleet.stop()
    }

    @Test(arguments: [["TERM": "dumb"], ["NO_COLOR": "1"], [:]])
    func `a terminal that cannot draw gets no bar, and NO_COLOR switches colours off`(
        environment: [String: String]
    ) async throws {
        let fleet = try await Fleet.start(files: 5)
        let gate = try fleet.gateList(after: 3)
        let screen = try await TmuxScreen.start()
        try await screen.run("env", environment.map { "\($0)=\($1)" } + [Program.path] + fleet.run)
        try await gate.accepted(2)
        if environment["TERM"] == nil { try await screen.wait { $0.contains(where: Self.isBar) } }
        // A bar has no colour before the first file is there, and a stopped run fetches no more.
        if environment.isEmpty { try await screen.waitForColors() }
        try await screen.press("C-c")
        try await screen.wait { $0.contains { $0.contains("stopping") } }
        if !environment.isEmpty {
            #expect(try await screen.colors() == false)
        }
        if environment["TERM"] != nil { #expect(try await screen.rows().contains(where: Self.isBar) == false) }
        try await screen.press("C-c")
        try await screen.waitForPrompt(after: "130")
        try await gate.stop()
        try await screen.stop()
        try await fleet.stop()
    }
}
