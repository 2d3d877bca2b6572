import GannetBase

/// The Redis that commands use when none is named: started when needed, shared between them, stopped when idle.
///
/// Locks: a user holds `users` shared for its lifetime, and takes it *before* it takes `start` to look for a server. A
/// supervisor that wants to stop takes `start`, then `users` exclusively without waiting. So no command can begin to use a server that is about to
/// stop, and a command that waited for `start` finds either a live server or none.
struct PrivateRedis: Sendable {
    /// Longer than any command holds a lock. Stopping takes longest.
    private static let lockBound = Duration.seconds(90)
    private static let startBound = Duration.seconds(60)
    private static let loadingBound = Duration.seconds(600)

    let environment: PrivateRedisEnvironment
    private let surroundings = Surroundings.current
    private let program = Executable.path

    init(environment: PrivateRedisEnvironment) {
        self.environment = environment
    }

    /// The right to use the server: while it is held, the server is not stopped for idleness. It ends with the process at the latest.
    final class Lease: Sendable {
        let socketPath: String
        /// The folder of the server's data.
        let data: String
        private let users: FileLock

        init(_ folder: PrivateRedisFolder, users: FileLock) {
            socketPath = folder.socket
            data = folder.data
            self.users = users
            users.touch()
        }

        deinit {
            users.touch()
        }

        /// As `--redis` would take it.
        var address: String { "unix://\(socketPath)" }
    }

    enum Stop: Sendable, Equatable {
        case wasNotRunning
        case stopped(wasInUse: Bool)
    }

    /// The server, started if there is none and with its data loaded.
    func ensureRunning(console: Console) async throws(CommandFailure) -> Lease {
        try await onThread { () throws(CommandFailure) in try begin(console: console) }
    }

    /// Starts the server again for a command that holds a lease, and says so. Does nothing while the server is there, however slow.
    func restartIfGone(console: Console) async throws(CommandFailure) {
        _ = try await onThread { () throws(CommandFailure) -> Lease? in
            let folder = try PrivateRedisFolder.prepare(home: environment.home)
            guard ServerConnection.state(of: folder.socket) == .gone else { return nil }
            console.warn("The private Redis has gone; starting it again.")
            return try begin(console: Console(.quiet))
        }
    }

    /// Stops the server if there is one, also while commands use it.
    func stop() async throws(CommandFailure) -> Stop {
        try await onThread { () throws(CommandFailure) in try end() }
    }

    private func begin(console: Console) throws(CommandFailure) -> Lease {
        let folder = try PrivateRedisFolder.prepare(home: environment.home)
        let users = try take(folder.usersLock, .shared)
        let lease = Lease(folder, users: users)
        let logStart = ServerLog(path: folder.log).size
        let started = try startWhenNeeded(folder)
        if started {
            console.note("Started a private Redis, which keeps its data in \(folder.path); it stops \(idleText) after its last use.")
        } else {
            console.detail("using the private Redis at \(lease.address)")
        }
        try awaitLoaded(folder, logStart: started ? min(logStart, ServerLog(path: folder.log).size) : 0, console: console)
        return lease
    }

    /// True when there was none.
    private func startWhenNeeded(_ folder: PrivateRedisFolder) throws(CommandFailure) -> Bool {
        let start = try take(folder.startLock, .exclusive)
        defer { withExtendedLifetime(start) {} }
        let state = ServerConnection.state(of: folder.socket)
        if state == .silent {
            throw CommandFailure(
                .unavailable, "The private Redis at '\(folder.socket)' does not answer. 'gannet redis stop' asks it to end.")
        }
        // A server whose supervisor was killed gets a new one.
        let isSupervised = try FileLock.tryToTake(folder.supervisorLock, .shared) == nil
        guard state == .gone || !isSupervised else { return false }
        try launchSupervisor()
        return state == .gone
    }

    private func launchSupervisor() throws(CommandFailure) {
        guard let pipe = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot open a pipe: \(Descriptor.message(errno)).")
        }
        defer { close(pipe.read) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var variables = surroundings.environment.filter { !$0.key.hasPrefix("GANNET_") }
        variables[Times.variable] = surroundings.environment[Times.variable]
        variables["GANNET_HOME"] = environment.home
        variables["GANNET_REDIS_IDLE"] = TimeSpan.text(of: environment.idleTime)
        let pid = Spawn(
            program, words: ["gannet", "redis", "supervise"], environment: variables, descriptors: [null, null, null, pipe.write],
            group: .session
        ).start()
        close(pipe.write)
        guard pid > 0 else {
            throw CommandFailure(.unavailable, "The supervisor of the private Redis cannot be started: \(Descriptor.message(-pid)).")
        }
        if case .failed(let failure) = SupervisorReport.receive(from: pipe.read, within: Self.startBound) { throw failure }
    }

    /// Asked now and then: the server has no way to call when it is done.
    private func awaitLoaded(_ folder: PrivateRedisFolder, logStart: Int, console: Console) throws(CommandFailure) {
        let end = ContinuousClock.now + Self.loadingBound
        var hasTold = false
        while true {
            switch ServerConnection.state(of: folder.socket) {
            case .ready: return
            case .gone:
                throw CommandFailure(.unavailable, ServerProcess.endedAtStart(log: ServerLog(path: folder.log), since: logStart))
            case .silent, .loading: break
            }
            if !hasTold { console.note("The private Redis is loading its data.") }
            hasTold = true
            guard ContinuousClock.now < end else {
                let minutes = Self.loadingBound.components.seconds / 60
                throw CommandFailure(.unavailable, "The private Redis still loads its data after \(minutes) minutes.")
            }
            usleep(50_000)
        }
    }

    private func end() throws(CommandFailure) -> Stop {
        // Without a folder there never was a server, and none is made to find that out.
        guard PrivateRedisFolder.exists(home: environment.home) else { return .wasNotRunning }
        let folder = try PrivateRedisFolder.prepare(home: environment.home)
        let start = try take(folder.startLock, .exclusive)
        defer { withExtendedLifetime(start) {} }
        let wasInUse = try FileLock.tryToTake(folder.usersLock, .exclusive) == nil
        return try shutDown(folder) ? .stopped(wasInUse: wasInUse) : .wasNotRunning
    }

    /// Returns whether there was a server.
    private func shutDown(_ folder: PrivateRedisFolder) throws(CommandFailure) -> Bool {
        let connection = ServerConnection.open(folder.socket, within: .seconds(5))
        if let connection {
            if let reason = connection.shutDown(within: .seconds(60)) {
                throw CommandFailure(.unavailable, "The private Redis does not stop: \(reason).")
            }
            unlink(folder.socket)
        }
        // Its process has ended when its lock is free.
        _ = try ServerProcess.lockData(of: folder)
        return connection != nil
    }

    private func take(_ path: String, _ mode: FileLock.Mode) throws(CommandFailure) -> FileLock {
        guard let lock = try FileLock.tryToTake(path, mode, within: Self.lockBound) else {
            let seconds = Self.lockBound.components.seconds
            throw CommandFailure(.unavailable, "Another command has been starting or stopping the private Redis for \(seconds) seconds.")
        }
        return lock
    }

    private var idleText: String {
        environment.idleTime == PrivateRedisEnvironment.defaultIdleTime ? "10 minutes" : TimeSpan.text(of: environment.idleTime)
    }

    /// Locks and sockets block; the threads that run tasks must not. A cancelled task does not wait for the thread, whose work is bounded. The
    /// thread's locks end with its work, or with the process.
    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(CommandFailure) -> Value
    ) async throws(CommandFailure) -> Value {
        let (results, result) = AsyncStream.makeStream(of: Result<Value, CommandFailure>.self)
        OwnedThread.start(name: "gannet-redis") {
            result.yield(Result(catching: body))
            result.finish()
        }
        for await result in results { return try result.get() }
        throw CommandFailure(.interrupted, "Interrupted while waiting for the private Redis.")
    }
}
