import Foundation
import GannetTestKit
import Testing

@testable import GannetCommand

/// The key that ends a run, as a person at a terminal presses it.
@Suite(.timeLimit(.minutes(3))) struct FinishKeyTests {
    private static let offer = "f ends the run now; rows that wait count as failed"

    /// A run of which two URLs never end, and a terminal.
    private static func withHangingRun(_ body: (Fleet, TmuxScreen, [String]) async throws -> Void) async throws {
        let fleet = try await Fleet.start(files: 10)
        let gate = try fleet.gateList(after: 5)
        let screen = try await TmuxScreen.start()
        try await body(fleet, screen, fleet.run + ["--concurrency", "2", "--drain-timeout", "0s"])
        try await screen.stop()
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `f ends a run whose host never answers, and the terminal is as it was, also after Ctrl-Z`() async throws {
        try await Self.withHangingRun { fleet, screen, run in
            try await screen.run("stty", ["-a"])
            let modes = try await screen.waitForPrompt()
            try await screen.run(Program.path, run)
            try await screen.wait { $0.contains(Self.offer) }
            try await screen.press("C-z")
            try await screen.waitForPrompt(after: "\(128 + SIGTSTP)")
            try await screen.run("stty", ["-a"])
            #expect(try await screen.waitForPrompt() == modes)
            try await screen.run("fg", [])
            try await screen.wait { $0.contains(Self.offer) }
            try await screen.press("f")
            let rows = try await screen.waitForPrompt(after: "1")
            #expect(rows.contains { $0.contains("the key f was pressed: the run ends") }, "\(rows)")
            #expect(!rows.contains(Self.offer), "\(rows)")
            let ended: [EndedRow] = try fleet.manifest()
            #expect(ended.count == 12)
            #expect(Set(ended.compactMap(\.error?.message)) == ["The run was ended by the key f before this URL ended."])
            try await screen.run("stty", ["-a"])
            #expect(try await screen.waitForPrompt() == modes)
        }
    }

    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130), (SIGQUIT, 131)] as [(Int32, Int32)])
    func `a signal leaves the terminal as it was`(signal: Int32, status: Int32) async throws {
        try await Self.withHangingRun { fleet, screen, run in
            try await screen.run("stty", ["-a"])
            let modes = try await screen.waitForPrompt()
            // The shell's words tell of a signal too.
            try await screen.run("sh", ["-c", "echo \"is $$\"; exec \"$@\"", "sh", Program.path] + run)
            let rows = try await screen.wait { $0.contains(Self.offer) }
            let id = try #require(rows.compactMap { $0.hasPrefix("is ") ? pid_t($0.dropFirst(3)) : nil }.first)
            kill(id, signal)
            if signal != SIGQUIT {
                try await screen.wait { $0.contains { $0.contains("gannet: stopping") } || $0.last { !$0.isEmpty } == "\(status) ready>" }
            }
            try await screen.waitForPrompt(after: "\(status)")
            try await screen.run("stty", ["-a"])
            #expect(try await screen.waitForPrompt() == modes)
        }
    }

    @Test func `a command that is typed ahead ends no run, and f does so after it, also after Ctrl-Z and after SIGSTOP`() async throws {
        try await Self.withHangingRun { fleet, screen, run in
            try await screen.run("sh", ["-c", "echo \"is $$\"; exec \"$@\"", "sh", Program.path] + run)
            let begun = try await screen.wait { $0.contains(Self.offer) }
            let id = try #require(begun.compactMap { $0.hasPrefix("is ") ? pid_t($0.dropFirst(3)) : nil }.first)
            try await screen.type("echo for-the-$((40 + 2))\n")
            let told = try await screen.wait { $0.contains { $0.contains("of all keys only f is read") } }
            #expect(told.contains(Self.offer))
            try await screen.press("C-z")
            try await screen.waitForPrompt(after: "\(128 + SIGTSTP)")
            try await screen.run("fg", [])
            try await screen.wait { $0.contains(Self.offer) }
            kill(id, SIGSTOP)
            try await screen.waitForPrompt(after: "\(128 + SIGSTOP)")
            // As shells with line editing set the terminal.
            try await screen.type("clear; stty icanon echo; fg\n")
            try await screen.wait { $0.contains(Self.offer) }
            // It counts a second after the other keys. Presses that come about the end are the shell's, before and after its prompt.
            var rows: [String] = []
            try await eventually("the run has ended. The screen shows:\n\(rows.joined(separator: "\n"))") {
                try await screen.press("f")
                rows = try await screen.rows()
                return rows.contains { $0.drop { $0 == "f" }.hasPrefix("1 ready>") }
            }
            #expect(rows.contains { $0.contains("the key f was pressed: the run ends") }, "\(rows)")
            #expect(!rows.contains { $0.hasSuffix("for-the-42") }, "\(rows)")
        }
    }

    @Test func `a list that is read from the terminal has all keys`() async throws {
        try await Self.withHangingRun { fleet, screen, run in
            let urls = try String(contentsOfFile: fleet.list, encoding: .utf8).split(separator: "\n")[5..<7]
            try await screen.run(Program.path, run.map { $0 == fleet.list ? "-" : $0 })
            try await screen.wait { $0.contains { $0.contains("0 of 0") } }
            let mode = ["-F", try await screen.property("pane_tty"), "-a"]
            let modes = try await ChildProcess.run(.init("stty", mode, environment: fleet.program.environment)).output
            #expect(modes.contains(" icanon") && modes.contains(" echo "), "\(modes)")
            try await screen.type(urls.joined(separator: "\n") + "\n")
            try await screen.press("C-d")
            let rows = try await screen.wait { $0.contains { $0.hasPrefix("'gannet run --finish -d ") } }
            #expect(!rows.contains(Self.offer))
            #expect(try await fleet.outcome(["run", "--finish", "-d", fleet.out]).output.hasSuffix("2 rows: 2 failed.\n"))
            try await screen.waitForPrompt(after: "1")
        }
    }

    @Test(
        arguments: [
            (".", 0, 0), (".f..", 1, 0), (".F.", 1, 0), ("ff", 1, 0), ("\n.f.", 1, 0), ("f\n.", 1, 0), ("f", 0, 0), ("3.", 1, 0),
            ("fi.", 0, 1), ("x", 0, 1), ("x.f.", 0, 1), ("x.....f.", 1, 1), ("4.", 0, 1), ("f4.", 0, 1), ("4.....f.", 1, 1),
            ("x.....fx.....f.", 1, 1), ("off\n.", 0, 1), ("xffffff.", 1, 1),
        ] as [(String, Int, Int)])
    func `a key counts when nothing else has come for a second, and until the next look`(looks: String, presses: Int, others: Int) {
        // Each character is a look: a dot finds nothing, a digit several keys, and any other that key.
        var key = LoneKey()
        let found = looks.utf8.map { look -> LoneKey.Press? in
            switch look {
            case UInt8(ascii: "."): key.look([])
            case UInt8(ascii: "3"): key.look(Array("fff".utf8))
            case UInt8(ascii: "4"): key.look(Array("\u{1b}[fx".utf8))
            default: key.look([look])
            }
        }
        #expect(found.count { $0 == .finish } == presses && found.count { $0 == .firstOther } == others, "\(looks)")
    }
}

/// The parts of a manifest's line that tests of early ends read.
struct EndedRow: Decodable {
    struct Problem: Decodable {
        let `class`: String
        let message: String
    }
    let outcome: String
    let error: Problem?
}
