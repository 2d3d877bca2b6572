import Foundation
import GannetTestKit

/// A state folder for one test. Whatever runs in it is stopped and waited for, then it is removed.
struct Home: Sendable {
    let path: String

    /// Short enough for a socket, unless `padding` makes it too long.
    static func with(padding: Int = 0, _ body: (Home) async throws -> Void) async throws {
        let temporary = try TemporaryFolder()
        let home = Home(path: temporary.file("h" + String(repeating: "x", count: padding)))
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: false)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(home))
        } catch {
            outcome = .failure(error)
        }
        _ = try await Program(home: home.path).process("redis", "stop", "--yes")
        withExtendedLifetime(temporary) {}
        try outcome.get()
    }

    var folder: String { path + "/private-redis" }

    /// The server's process, as its keeper noted it.
    var serverProcess: pid_t? {
        let text = (try? String(contentsOfFile: folder + "/server.lock", encoding: .utf8)) ?? ""
        return text.split(separator: " ").last.flatMap { pid_t($0) }
    }

    /// The server is in the session that its keeper leads. Nil unless that is a session of its own: signals meant for the keeper
    /// must never go to whoever leads the tests' session.
    var keeperProcess: pid_t? {
        guard let server = serverProcess else { return nil }
        let leader = getsid(server)
        return leader > 1 && leader != getsid(0) && leader != server ? leader : nil
    }

    var socket: String { folder + "/redis.sock" }

    /// The server's answer as redis-cli prints it.
    func ask(_ words: String...) async throws -> String {
        try await ChildProcess.succeed("redis-cli", ["-s", socket] + words).trimmingCharacters(in: .newlines)
    }
}

/// Whether a process that is nobody's child here still runs. In a container whose first process does not look after orphans, one that
/// has ended stays in the table for good and can still be signalled.
func isRunning(_ pid: pid_t) -> Bool {
    guard kill(pid, 0) == 0 else { return false }
    guard let state = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
    // `pid (name) state …`, and a name may hold blanks and parentheses.
    return state.lastIndex(of: ")").map { !state[$0...].dropFirst(2).hasPrefix("Z") } ?? true
}
