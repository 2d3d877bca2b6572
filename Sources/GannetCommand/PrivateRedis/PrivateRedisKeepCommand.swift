import GannetBase

/// `gannet redis keep`: started by ``PrivateRedis`` in a session of its own, not by people. It starts the server, and ends it when no command has used
/// it for the idle time. The server ends with it in any case.
struct PrivateRedisKeepCommand {
    static let spec = CommandSpec("keep", summary: "Keep the private Redis.", isHidden: true) { _ in
        try await PrivateRedisKeepCommand().run()
    }

    /// `F_SETSIG`, which the Glibc module does not show.
    private static let setSignal: Int32 = 10
    /// Time for a server to open its socket; loading its data comes after.
    private static let startBound = Duration.seconds(20)
    /// The descriptor of the locked `server.lock`.
    private static let lock: Int32 = 3

    func run() async throws -> ExitStatus {
        let environment = PrivateRedisEnvironment.current
        let folder = try PrivateRedisFolder.prepare(home: environment.home)
        var (held, named) = (stat(), stat())
        guard fstat(Self.lock, &held) == 0, stat(folder.serverLock, &named) == 0, held.st_ino == named.st_ino else {
            throw CommandFailure(.wrongUsage, "Only other commands start 'gannet redis keep'.")
        }
        _ = chdir(folder.path)
        guard let pipe = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot open a pipe: \(Descriptor.message(errno)).")
        }
        // The kernel sends SIGTERM to this session's processes when the pipe has no writer left. This process is the only one, so the server also
        // ends after its kill.
        _ = fcntl(pipe.read, F_SETOWN, -getpid())
        _ = fcntl(pipe.read, Self.setSignal, SIGTERM)
        _ = fcntl(pipe.read, F_SETFL, O_ASYNC)
        let program = try environment.server
        let server = Spawn(
            program, words: ["redis-server"] + Self.options(for: folder), environment: ["PATH": environment.searchPath, "LANG": "C"],
            descriptors: [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, Self.lock, pipe.read], group: .inherited
        ).start()
        guard server > 0 else { throw CommandFailure(.unavailable, "'\(program)' cannot be started: \(Descriptor.message(-server)).") }
        ftruncate(Self.lock, 0)
        _ = Descriptor.writeAll("pid \(server)", to: Self.lock)
        // From now on the server alone has them.
        for descriptor in [Self.lock, pipe.read] { close(descriptor) }
        keep(server, readingFrom: pipe.write, folder, idleTime: environment.idleTime)
        waitpid(server, nil, 0)
        return .done
    }

    /// Returns when the server has ended.
    private func keep(_ server: pid_t, readingFrom pipe: Int32, _ folder: PrivateRedisFolder, idleTime: Duration) {
        // A use that is shorter goes unseen at times. At worst the next command has to start the server again.
        let pause = min(max(idleTime / 5, .milliseconds(20)), .milliseconds(200))
        let start = ContinuousClock.now
        var lastUse = start
        var hadSocket = false
        while !Self.isUnread(pipe, within: hadSocket ? pause : .milliseconds(20)) {
            // Without its files no command will find this server again, though it has the data.
            let hasSocket = access(folder.socket, F_OK) == 0 && access(folder.serverLock, F_OK) == 0
            let isLost = !hasSocket && (hadSocket || ContinuousClock.now - start >= Self.startBound)
            hadSocket = hasSocket
            // Held until the server has ended. A command that comes meanwhile waits for it, and then starts another.
            let users = FileLock.take(folder.usersLock, .exclusive)
            if users == nil { lastUse = .now }
            guard isLost || ContinuousClock.now - lastUse >= idleTime else { continue }
            repeat { kill(server, SIGTERM) } while !Self.isUnread(pipe, within: .seconds(1))
            withExtendedLifetime(users) {}
        }
    }

    /// Whether the pipe's reader has ended, which is the server.
    private static func isUnread(_ pipe: Int32, within bound: Duration) -> Bool {
        var end = pollfd(fd: pipe, events: 0, revents: 0)
        return poll(&end, 1, Int32(bound / .milliseconds(1))) > 0
    }

    private static func options(for folder: PrivateRedisFolder) -> [String] {
        [
            "--port", "0", "--unixsocket", folder.socket, "--unixsocketperm", "700", "--dir", folder.data, "--appendonly", "yes",
            "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction", "--loglevel", "warning", "--logfile", "",
            "--daemonize", "no",
        ]
    }
}
