import GannetBase

/// The folder that the private Redis lives in, and the names within it.
struct PrivateRedisFolder: Sendable {
    /// Absolute and without symbolic links, so that two spellings of one folder are one server.
    let path: String
    let socket: String

    /// Held shared by every user, for its lifetime.
    var usersLock: String { path + "/users.lock" }
    /// Held by the server's process, so that no second one ever opens the same data, even where the socket is lost.
    var serverLock: String { path + "/server.lock" }
    var log: String { path + "/redis.log" }
    var data: String { path + "/data" }

    /// `sun_path` holds 108 bytes, and the server wants some for itself.
    static let longestSocketPath = 100

    static func exists(home: String) -> Bool {
        access(folder(in: home), F_OK) == 0
    }

    private static func folder(in home: String) -> String {
        home + "/private-redis"
    }

    /// Makes missing folders, readable for this user alone, and refuses folders that another user could have put there.
    static func prepare(home: String) throws(CommandFailure) -> PrivateRedisFolder {
        try makeHome(home)
        let folder = folder(in: home)
        try makePrivate(folder, of: "The state folder of the private Redis", status: .cannotWrite)
        guard let resolved = realpath(folder, nil) else { throw unusable(folder, errno) }
        defer { free(resolved) }
        let path = String(cString: resolved)
        try makePrivate(path + "/data", of: "The data folder of the private Redis", status: .cannotWrite)
        return PrivateRedisFolder(path: path, socket: try socket(for: path))
    }

    static func makeHome(_ home: String) throws(CommandFailure) {
        var path = ""
        for part in home.split(separator: "/") {
            path += "/" + part
            guard mkdir(path, 0o700) != 0 else { continue }
            let code = errno
            // A parent that cannot be written is no matter when it is there: some systems say EROFS or EACCES before EEXIST.
            guard access(path, F_OK) == 0 else { throw unusable(path, code) }
        }
    }

    /// Beside the data, or in a short folder under /tmp when that path is too long for a socket. Always the same one for the same
    /// folder: were it to depend on XDG_RUNTIME_DIR, a command from cron would not find the server of a command from a terminal.
    private static func socket(for path: String) throws(CommandFailure) -> String {
        let near = path + "/redis.sock"
        guard near.utf8.count > longestSocketPath else { return near }
        let short = "/tmp/gannet-\(geteuid())-\(fingerprint(of: path))"
        try makePrivate(short, of: "The socket folder of the private Redis", status: .unavailable)
        return short + "/redis.sock"
    }

    /// FNV-1a: the name only has to differ between the folders of one user.
    static func fingerprint(of path: String) -> String {
        let hash = path.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }

    private static func makePrivate(_ path: String, of what: String, status: ExitStatus) throws(CommandFailure) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw unusable(path, errno) }
        var found = stat()
        guard lstat(path, &found) == 0 else { throw unusable(path, errno) }
        guard found.st_mode & S_IFMT == S_IFDIR, found.st_uid == geteuid() else {
            throw CommandFailure(status, "\(what), '\(path)', is not a folder of yours. Remove it, or set GANNET_HOME to another folder.")
        }
        if found.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 { throw unusable(path, errno) }
    }

    /// The server's process, for people.
    var server: String {
        let text = (try? String(contentsOfFile: serverLock, encoding: .utf8)) ?? ""
        return text.isEmpty ? "its process id is unknown" : text
    }

    /// The processes that hold `users.lock`: `'gannet run' (process 4711)`. The kernel may not tell of all.
    var users: String {
        var status = stat()
        let locks = (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? ""
        guard stat(usersLock, &status) == 0 else { return "other commands" }
        // `12: FLOCK  ADVISORY  READ 4711 08:02:131109 0 EOF`
        let words = locks.split(separator: "\n").map { $0.split(separator: " ") }
        let holders = words.filter { $0.count > 5 && $0[1] == "FLOCK" && $0[5].hasSuffix(":\(status.st_ino)") }.compactMap { Int($0[4]) }
        let told = Set(holders).sorted().prefix(5).compactMap { process in
            let line = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8))?.split(separator: "\0") ?? []
            guard let program = line.first?.split(separator: "/").last else { return String?.none }
            return "\(Sentence.quoted(([program] + line.dropFirst().prefix(1)).joined(separator: " "))) (process \(process))"
        }
        return told.isEmpty ? "other commands" : told.joined(separator: ", ")
    }

    /// Why the server has ended at its start: the last line of its log, such as `1234:M 21 Nov 2026 07:03:23.123 # Bad file format…`.
    var lastWords: String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        guard let line = text.split(whereSeparator: \.isNewline).last else { return "The private Redis ended at once and gave no reason." }
        let words = line.firstRange(of: " # ").map { line[$0.upperBound...] } ?? line
        return "The private Redis ended while it started. It says (\(log)): \(words.prefix(400))"
    }

    private static func unusable(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure(
            .cannotWrite,
            "The state folder '\(path)' cannot be used: \(Descriptor.message(code)). Set GANNET_HOME to a folder that you can write.")
    }
}

/// The settings of the private Redis in the process's environment.
struct PrivateRedisEnvironment: Sendable {
    /// How long the server outlives its last user.
    static let defaultIdleTime = Duration.seconds(600)

    /// Absolute.
    let home: String
    let idleTime: Duration
    /// Where servers are looked for, as in `PATH`.
    let searchPath: String

    static var current: PrivateRedisEnvironment {
        Self(Surroundings.current.environment, workingFolder: FileManager.default.currentDirectoryPath)
    }

    /// For a server in a folder of its own, which ends soon after its last user.
    static func demonstration(home: String) -> PrivateRedisEnvironment {
        var variables = ["GANNET_HOME": home, "GANNET_REDIS_IDLE": "10s"]
        variables["PATH"] = Surroundings.current.environment["PATH"]
        return Self(variables, workingFolder: "/")
    }

    init(_ variables: [String: String], workingFolder: String) {
        func folder(_ name: String) -> String? {
            variables[name].flatMap { $0.isEmpty ? nil : $0.hasPrefix("/") ? $0 : workingFolder + "/" + $0 }
        }
        // The XDG rules say that a relative XDG_STATE_HOME is to be ignored.
        let state = variables["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        home = folder("GANNET_HOME") ?? (state ?? (folder("HOME") ?? "/") + "/.local/state") + "/gannet"
        // For tests, which cannot wait ten minutes to see a server end. It is not an option and not documented as one.
        let idle = variables["GANNET_REDIS_IDLE"].flatMap { try? TimeSpan.parse($0) }
        idleTime = min(max(idle ?? Self.defaultIdleTime, .milliseconds(10)), .seconds(7 * 86_400))
        searchPath = variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    }

    /// The file of a Redis server.
    var server: String {
        get throws(CommandFailure) {
            for program in ["redis-server", "valkey-server"] {
                for folder in searchPath.split(separator: ":") where folder.hasPrefix("/") && access("\(folder)/\(program)", X_OK) == 0 {
                    return "\(folder)/\(program)"
                }
            }
            throw CommandFailure(
                .unavailable,
                "redis-server is not installed. Install it (Debian, Ubuntu: sudo apt install redis-server) or "
                    + "name a Redis with '--redis <url>'.")
        }
    }
}
