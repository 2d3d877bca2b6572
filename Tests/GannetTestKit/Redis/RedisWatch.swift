/// The commands that a server carries out while this object lives, those of scripts included. They are a sign of how far another program
/// has come.
package final class RedisWatch: Sendable {
    private let monitor: ChildProcess

    fileprivate init(socket: String) async throws {
        let monitor = try ChildProcess(.init("redis-cli", ["-s", socket, "MONITOR"]))
        self.monitor = monitor
        let first = try await bounded("redis-cli watches the server") { try await monitor.output.line { _ in true } }
        guard first == "OK" else { throw KitError("redis-cli cannot watch the server: \(monitor.output.text)\(monitor.errors.text)") }
    }

    /// Returns when the server has carried out a command in which all of these texts are, with its words in quotation marks.
    package func saw(_ texts: String...) async throws { try await saw(texts) }

    /// The same with texts that are put together at run time.
    package func saw(_ texts: [String]) async throws {
        let monitor = monitor
        let what = "Redis carries out a command with \(texts.joined(separator: " and "))"
        let line = try await bounded(what) { try await monitor.output.line { line in texts.allSatisfy { line.contains($0) } } }
        guard line != nil else { throw KitError("the server ended before this: \(what)") }
    }

    /// Returns when the server has carried out so many commands of this name.
    package func saw(_ count: Int, of name: String) async throws {
        let monitor = monitor
        try await eventually("Redis carries out \(count) commands \(name)") {
            monitor.output.text.split(separator: "\n").count { $0.contains("\"\(name)\"") } >= count
        }
    }

    /// The commands of this name that the server had carried out when it did the one with this text.
    package func commands(_ name: String, until text: String) async throws -> [Substring] {
        try await saw(text)
        return monitor.output.text.split(separator: "\n").prefix { !$0.contains(text) }.filter { $0.contains("\"\(name)\"") }
    }
}

extension RedisServer {
    /// Watches what the server is asked from now on.
    package func watch() async throws -> RedisWatch { try await RedisWatch(socket: socketPath) }
}
