import CommandLineKit
import GannetBasics

/// What the process's environment says about the private Redis.
struct PrivateRedisEnvironment: Sendable {
    /// How long the server outlives its last user.
    static let defaultIdleTime = Duration.seconds(600)

    /// Absolute.
    let home: String
    let idleTime: Duration
    /// Where servers are looked for, as in `PATH`.
    let searchPath: String

    static var current: PrivateRedisEnvironment {
        Self(ProcessInfo.processInfo.environment, workingFolder: FileManager.default.currentDirectoryPath)
    }

    /// For a server in a folder of its own, which ends soon after its last user.
    static func demonstration(home: String) -> PrivateRedisEnvironment {
        var variables = ["GANNET_HOME": home, "GANNET_REDIS_IDLE": "10s"]
        variables["PATH"] = ProcessInfo.processInfo.environment["PATH"]
        return Self(variables, workingFolder: "/")
    }

    init(_ variables: [String: String], workingFolder: String) {
        func folder(_ name: String) -> String? {
            variables[name].flatMap { $0.isEmpty ? nil : $0.hasPrefix("/") ? $0 : workingFolder + "/" + $0 }
        }
        // The XDG rules say that a relative XDG_STATE_HOME is to be ignored.
        let state = variables["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        home = folder("GANNET_HOME") ?? (state ?? (folder("HOME") ?? "/") + "/.local/state") + "/gannet"
        // For tests: nobody wants to wait ten minutes to see a server end. Not an option, and not documented as one.
        let idle = variables["GANNET_REDIS_IDLE"].flatMap { try? TimeSpan.parse($0) }
        idleTime = min(max(idle ?? Self.defaultIdleTime, .milliseconds(10)), .seconds(7 * 86_400))
        searchPath = variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    }
}
