/// A server's own counts: the calls of each command, including calls by scripts, and the time they took.
package struct CommandStatistics: Sendable {
    package struct Entry: Sendable, Equatable {
        package var calls: Int
        package var microseconds: Int
    }

    /// By the command's name, in lower case; a script is `evalsha`.
    package private(set) var commands: [String: Entry] = [:]

    /// All calls but those of the scripts themselves: how much work scripts made.
    package var callsInScripts: Int { commands.filter { !$0.key.hasPrefix("eval") }.reduce(0) { $0 + $1.value.calls } }

    /// For how long scripts have kept the server from anything else.
    package var scriptMicroseconds: Int { commands["evalsha"]?.microseconds ?? 0 }

    init(info: String) {
        for line in info.split(whereSeparator: \.isNewline) where line.hasPrefix("cmdstat_") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            var values: [Substring: Int] = [:]
            for field in line[line.index(after: colon)...].split(separator: ",") {
                let parts = field.split(separator: "=")
                if parts.count == 2 { values[parts[0]] = Int(parts[1]) }
            }
            let name = String(line[..<colon].dropFirst("cmdstat_".count))
            commands[name] = Entry(calls: values["calls"] ?? 0, microseconds: values["usec"] ?? 0)
        }
        for name in ["info", "config|resetstat", "config"] { commands[name] = nil }
    }
}

extension RedisServer {
    /// The server's work while `body` runs. Nothing else may use the server meanwhile.
    package func statistics(while body: () async throws -> Void) async throws -> CommandStatistics {
        try await command("CONFIG", "RESETSTAT")
        try await body()
        guard let info = try await command("INFO", "commandstats").text else { throw KitError("the server has no statistics") }
        return CommandStatistics(info: info)
    }
}
