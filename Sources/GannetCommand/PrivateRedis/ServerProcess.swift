import GannetBase

/// Finds and starts `redis-server` on the private folder.
struct ServerProcess {
    /// Time for a server to open its socket; loading its data comes after.
    private static let startBound = Duration.seconds(20)
    private static let programs = ["redis-server", "valkey-server"]

    let pid: pid_t

    /// Returns once the server answers.
    static func start(in folder: PrivateRedisFolder, searchPath: String) throws(CommandFailure) -> ServerProcess {
        guard let program = find(in: searchPath) else {
            throw CommandFailure(
                .unavailable,
                "redis-server is not installed. Install it (Debian, Ubuntu: sudo apt install redis-server) or "
                    + "name a Redis with '--redis <url>'.")
        }
        let data = try lockData(of: folder)
        unlink(folder.socket)
        let log = ServerLog(path: folder.log)
        log.truncateWhenLarge()
        let logStart = log.size
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let output = open(folder.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let pid = Spawn(
            program, words: ["redis-server"] + arguments(for: folder), environment: ["PATH": searchPath, "LANG": "C"],
            descriptors: [null, output, output, data.descriptor], group: .inherited
        ).start()
        for one in [null, output] { close(one) }
        guard pid > 0 else { throw CommandFailure(.unavailable, "'\(program)' cannot be started: \(Descriptor.message(-pid)).") }
        ftruncate(data.descriptor, 0)
        _ = Descriptor.writeAll("pid \(pid)", to: data.descriptor)
        let server = ServerProcess(pid: pid)
        try server.awaitAnswer(on: folder.socket, log: log, logStart: logStart)
        return server
    }

    /// The right to run a server on the data; refused while an earlier one still does.
    static func lockData(of folder: PrivateRedisFolder) throws(CommandFailure) -> FileLock {
        if let lock = try FileLock.tryToTake(folder.serverLock, .exclusive, within: Times.current.succession) { return lock }
        throw CommandFailure(
            .unavailable,
            "A Redis server (\(holder(of: folder.serverLock))) still runs on '\(folder.data)' but does not listen on '\(folder.socket)'. "
                + "End it and try again.")
    }

    /// Collects the process, which has closed its connections and so is about to end.
    func reap(within bound: Duration) {
        let end = ContinuousClock.now + bound
        while !hasEnded, ContinuousClock.now < end { usleep(5_000) }
    }

    private var hasEnded: Bool {
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG) != 0
    }

    private func awaitAnswer(on socket: String, log: ServerLog, logStart: Int) throws(CommandFailure) {
        let end = ContinuousClock.now + Self.startBound
        while true {
            switch ServerConnection.state(of: socket) {
            case .ready, .loading: return
            case .gone, .silent: break
            }
            if hasEnded {
                throw CommandFailure(.unavailable, Self.endedAtStart(log: log, since: logStart))
            }
            guard ContinuousClock.now < end else {
                kill(pid, SIGTERM)
                reap(within: .seconds(5))
                let seconds = Self.startBound.components.seconds
                throw CommandFailure(.unavailable, "The private Redis did not open '\(socket)' within \(seconds) seconds.")
            }
            usleep(5_000)
        }
    }

    static func endedAtStart(log: ServerLog, since start: Int) -> String {
        guard let complaint = log.complaint(since: start) else { return "The private Redis ended at once and gave no reason." }
        return "The private Redis ended while it started. It says (\(log.path)): \(complaint)"
    }

    private static func find(in searchPath: String) -> String? {
        let folders = searchPath.split(separator: ":").filter { $0.hasPrefix("/") }
        for program in programs {
            for folder in folders where access("\(folder)/\(program)", X_OK) == 0 { return "\(folder)/\(program)" }
        }
        return nil
    }

    private static func arguments(for folder: PrivateRedisFolder) -> [String] {
        [
            "--port", "0", "--unixsocket", folder.socket, "--unixsocketperm", "700", "--dir", folder.data, "--appendonly", "yes",
            "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction", "--logfile", folder.log, "--daemonize", "no",
        ]
    }

    private static func holder(of lock: String) -> String {
        let text = (try? String(contentsOfFile: lock, encoding: .utf8)) ?? ""
        return text.isEmpty ? "its process id is unknown" : text
    }
}

/// The server's log, kept short. It tells why a server did not start.
struct ServerLog: Sendable {
    static let largest = 1 << 20

    let path: String

    /// The server opens the file anew for every line, and appends: emptying it under its hands is safe.
    func truncateWhenLarge() {
        if size > Self.largest { _ = truncate(path, 0) }
    }

    var size: Int {
        var found = stat()
        return stat(path, &found) == 0 ? Int(found.st_size) : 0
    }

    /// The server's complaints since the file had `start` bytes, in at most three lines; nil when it said nothing.
    func complaint(since start: Int) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // The last 16 KB hold more lines than are shown.
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = pread(descriptor, &bytes, bytes.count, off_t(max(start, size - bytes.count, 0)))
        guard count > 0 else { return nil }
        return Self.complaint(in: String(decoding: bytes[..<count], as: UTF8.self))
    }

    /// Lines look like `1234:M 21 Nov 2026 07:03:23.123 # Bad file format…`, where `#` marks a warning. Some of a
    /// start's warnings are advice about the machine and have nothing to do with its end.
    static func complaint(in text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init).filter { !$0.allSatisfy(\.isWhitespace) }
        let advice = [
            "overcommit_memory", "Transparent Huge", "Redis is starting", "version=", "Configuration loaded", "Server initialized",
        ]
        let warnings = lines.compactMap { line -> String? in
            guard let mark = line.firstRange(of: " # ") else { return nil }
            let warning = String(line[mark.upperBound...])
            return advice.contains { warning.contains($0) } ? nil : warning
        }
        let shown = warnings.isEmpty ? lines.suffix(1) : warnings.suffix(3)
        return shown.isEmpty ? nil : shown.map { String($0.prefix(400)) }.joined(separator: " / ")
    }
}
