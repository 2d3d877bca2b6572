import Foundation
import GannetTestKit
import Testing

/// Results as a person at a terminal sees them.
@Suite(.timeLimit(.minutes(2))) struct ResultsOnTerminalTests {
    /// The rows between the typed line and the prompt.
    private static func result(_ screen: TmuxScreen, from start: String, status: String) async throws -> [String] {
        let rows = try await screen.waitForPrompt(after: status).filter { !$0.isEmpty }.dropLast()
        return Array(try rows[#require(rows.firstIndex { $0.hasPrefix(start) }, "\(rows)")...])
    }

    @Test func `a summary breaks between words`() async throws {
        let fleet = try await Fleet.start(files: 2)
        let screen = try await TmuxScreen.start()
        try await screen.run(Program.path, fleet.run + [fleet.origin.url("/nothing")])
        let rows = try await Self.result(screen, from: "2 URLs fetched, 1 failed (http-404 1); 3 rows, ", status: "1")
        let end = " to \(fleet.out); manifest.jsonl there lists the failures, with reasons"
        // A word that the terminal had broken would have a blank in it.
        #expect(rows.joined(separator: " ").hasSuffix(end), "\(rows)")
        #expect(rows.count > 1 && rows.allSatisfy { $0.count <= 80 }, "\(rows)")
        try await screen.stop()
        try await fleet.stop()
    }

    @Test func `the reason of a dead job breaks between words`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", fleet.origin.url("/nothing-there")])
        #expect(try await fleet.outcome(fleet.work).status == 0)
        let words = ["jobs", "list", "--state", "dead"] + fleet.connection
        let whole = try await fleet.outcome(words).output
        #expect(whole.split(separator: "\n").count == 2, "nothing changes where standard output is no terminal")
        let screen = try await TmuxScreen.start()
        try await screen.run(Program.path, words)
        let rows = try await Self.result(screen, from: "STATE ", status: "0")
        let reason = "The server answered 404 (\(fleet.origin.url("/nothing-there")))."
        #expect(whole.contains(reason))
        #expect(rows.allSatisfy { $0.count <= 80 } && rows.count > 2, "\(rows)")
        let seen = rows.dropFirst().flatMap { $0.split(separator: " ") }
        #expect(seen.suffix(reason.split(separator: " ").count) == reason.split(separator: " ")[...], "\(rows)")
        try await screen.stop()
        try await fleet.stop()
    }
}
