import Foundation
import GannetTestKit
import Testing

/// A real terminal with a shell in it, whose screen a test sees as a person does: tmux.
final class TmuxScreen: Sendable {
    private let folder: TemporaryFolder
    private let server: ChildProcess
    private let environment: [String: String]

    private init(_ folder: TemporaryFolder, _ server: ChildProcess, _ environment: [String: String]) {
        self.folder = folder
        self.server = server
        self.environment = environment
    }

    /// With the status of the last program.
    private static let prompt = "$? ready> "

    /// 80×24. Returns when the shell's prompt is there.
    static func start() async throws -> TmuxScreen {
        let folder = try TemporaryFolder()
        // Nothing of the terminal that the tests may run in.
        let environment = Program(home: folder.path, ["TERM": "screen", "LC_ALL": "C.UTF-8", "PS1": prompt]).environment
        let settings = "set -g status off\nset -g default-shell /bin/sh\nset -g exit-empty off\nset -g default-terminal screen\n"
        try folder.write(Array(settings.utf8), to: "conf")
        // In the foreground, so that it ends with the test.
        let server = try ChildProcess(
            .init("tmux", ["-D", "-S", folder.file("s"), "-f", folder.file("conf")], environment: environment))
        let screen = TmuxScreen(folder, server, environment)
        // Its socket is there a moment before it answers.
        try await eventually("tmux answers") { try await screen.outcome(["list-sessions"]).status == .exited(0) }
        try await screen.tmux(["new-session", "-d", "-x", "80", "-y", "24", "-e", "PS1=\(prompt)", "-e", "ENV=", "/bin/sh"])
        try await screen.waitForPrompt()
        return screen
    }

    func stop() async throws {
        server.terminate()
        _ = try await server.exitStatus
    }

    /// Types a line and the Enter key. The output comes on a cleared screen.
    func run(_ program: String, _ words: [String]) async throws {
        let line = ([program] + words).map { "'\($0)'" }.joined(separator: " ")
        try await tmux(["send-keys", "-l", "clear; \(line)"])
        // Not before it is there: until then the prompt that a caller waits for is the one before.
        let typed = line.filter { $0 != " " }
        try await wait { $0.joined().filter { $0 != " " }.hasSuffix(typed) }
        try await tmux(["send-keys", "Enter"])
    }

    /// Types text, all at once.
    func type(_ text: String) async throws { try await tmux(["send-keys", "-l", text]) }

    /// Presses a key, by tmux's name of it.
    func press(_ key: String) async throws { try await tmux(["send-keys", key]) }

    func resize(columns: Int, rows: Int) async throws {
        try await tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// The rows of the screen, without the blanks at their ends.
    func rows() async throws -> [String] {
        try await tmux(["capture-pane", "-p"]).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Whether anything on the screen has a colour.
    func colors() async throws -> Bool { try await tmux(["capture-pane", "-p", "-e"]).contains("\u{1b}[3") }

    /// A bar has none before there is something to show.
    func waitForColors(file: String = #fileID, line: Int = #line) async throws {
        try await eventually("there is a colour on the screen", within: .seconds(40), file: file, line: line) { try await colors() }
    }

    /// Something the terminal knows of itself, by tmux's name of it.
    func property(_ name: String) async throws -> String {
        try await tmux(["display-message", "-p", "#{\(name)}"]).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits for the screen to look like this, and throws an error that shows the screen when it never does.
    @discardableResult
    func wait(
        within bound: Duration = .seconds(40), file: String = #fileID, line: Int = #line, for isWanted: ([String]) -> Bool
    ) async throws -> [String] {
        var rows: [String] = []
        try await eventually(
            "the screen is as expected. It shows:\n\(rows.joined(separator: "\n"))", within: bound, file: file, line: line
        ) {
            rows = try await self.rows()
            return isWanted(rows)
        }
        return rows
    }

    /// Waits until the program has ended with this status: the prompt is the last that is on the screen.
    @discardableResult
    func waitForPrompt(after status: String = "0", file: String = #fileID, line: Int = #line) async throws -> [String] {
        try await wait(file: file, line: line) { rows in
            // A key that came when the program had just ended stands before the prompt.
            var last = Substring(rows.last { !$0.isEmpty } ?? "")
            while last.hasPrefix("^C") { last = last.dropFirst(2) }
            return last == "\(status) ready>"
        }
    }

    @discardableResult
    private func tmux(_ words: [String]) async throws -> String {
        let outcome = try await outcome(words)
        guard outcome.status == .exited(0) else { throw KitError("tmux \(words[0]): \(outcome.errors)") }
        return outcome.output
    }

    private func outcome(_ words: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(.init("tmux", ["-u", "-S", folder.file("s")] + words, environment: environment))
    }
}
