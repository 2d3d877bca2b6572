import GannetBase
import GannetRedisClient

/// The right to use the Redis that commands share when none is named. It is started when needed, and ends ten minutes after its last use.
///
/// A user holds `users.lock` shared. The keeper of the server ends it only while it holds that lock alone, so no command begins to use a
/// server that is about to end. The server holds `server.lock`, so there is never a second one on its data.
final class PrivateRedis: Sendable {
    private static let lockBound = Duration.seconds(90)
    private static let startBound = Duration.seconds(60)
    private static let loadingBound = Duration.seconds(600)

    private let environment: PrivateRedisEnvironment
    private let folder: PrivateRedisFolder
    private let users: FileLock
    // Taken now: an outage is told on a thread that has no surroundings of its own.
    private let surroundings = Surroundings.current
    private let program = Executable.path
    private let succession = Times.current.succession

    private init(_ environment: PrivateRedisEnvironment, _ folder: PrivateRedisFolder, users: FileLock) {
        self.environment = environment
        self.folder = folder
        self.users = users
    }

    /// As `--redis` would take it.
    var address: String { "unix://\(folder.socket)" }
    var data: String { folder.data }

    /// Returns when the server answers and has its data.
    static func use(_ environment: PrivateRedisEnvironment, console: Console) async throws(CommandFailure) -> PrivateRedis {
        let folder = try PrivateRedisFolder.prepare(home: environment.home)
        guard let users = try await take(folder.usersLock, .shared, within: lockBound) else {
            throw CommandFailure(.unavailable, "The private Redis has been stopping for \(lockBound.components.seconds) seconds.")
        }
        let redis = PrivateRedis(environment, folder, users: users)
        if try await redis.awaitServer(console: console) {
            let usual = environment.idleTime == PrivateRedisEnvironment.defaultIdleTime
            let idle = usual ? "10 minutes" : TimeSpan.text(of: environment.idleTime)
            console.note("Started a private Redis, which keeps its data in \(folder.path); it stops \(idle) after its last use.")
        } else {
            console.detail("using the private Redis at \(redis.address)")
        }
        return redis
    }

    /// Starts the server again, and says so. Does nothing while the server is there, however slow.
    func restartIfGone(console: Console) async throws(CommandFailure) {
        guard [.unreachable, .connectionLost].contains(await trouble) else { return }
        console.warn("The private Redis has gone; starting it again.")
        _ = try PrivateRedisFolder.prepare(home: environment.home)
        _ = try await awaitServer(console: Console(.quiet))
    }

    /// Ends the server.
    /// - Parameter mayEnd: Says whether it ends though other commands use it, and gets their words.
    /// - Returns: The news in words; nil where the server stays.
    static func stop(_ environment: PrivateRedisEnvironment, ifUsedBy mayEnd: (String) throws -> Bool) async throws -> String? {
        let wasNotRunning = "The private Redis was not running."
        // Without a folder there never was a server, and none is made to find that out.
        guard PrivateRedisFolder.exists(home: environment.home) else { return wasNotRunning }
        let folder = try PrivateRedisFolder.prepare(home: environment.home)
        if try await take(folder.serverLock, .exclusive) != nil { return wasNotRunning }
        // The keeper has the lock for a moment, now and then.
        let alone = try await take(folder.usersLock, .exclusive, within: .milliseconds(50))
        defer { withExtendedLifetime(alone) {} }
        if alone == nil, try !mayEnd(folder.users) { return nil }
        for _ in 1...120 {
            // For the keeper this is the sign to end the server. A server that only starts makes its socket later.
            unlink(folder.socket)
            guard try await take(folder.serverLock, .exclusive, within: .milliseconds(500)) != nil else { continue }
            return "Stopped the private Redis\(alone == nil ? ", though other commands were using it" : "")."
        }
        throw CommandFailure(.unavailable, "The private Redis (\(folder.server)) does not stop: it still runs after a minute.")
    }

    /// True when this call has started the server.
    private func awaitServer(console: Console) async throws(CommandFailure) -> Bool {
        let begin = ContinuousClock.now
        var (hasStarted, hasTold) = (false, false)
        while true {
            let trouble = await self.trouble
            let waited = ContinuousClock.now - begin
            switch trouble {
            // Something accepted the connection and says nothing.
            case .connectTimeout?:
                throw CommandFailure(
                    .unavailable, "The private Redis at '\(folder.socket)' does not answer. 'gannet redis stop' asks it to end.")
            // It reads its data back; it answers, but not yet to everything.
            case .loading?:
                if !hasTold { console.note("The private Redis is loading its data.") }
                hasTold = true
                guard waited < Self.loadingBound else {
                    let minutes = Self.loadingBound.components.seconds / 60
                    throw CommandFailure(.unavailable, "The private Redis still loads its data after \(minutes) minutes.")
                }
            case .unreachable?, .connectionLost?:
                if let lock = try await Self.take(folder.serverLock, .exclusive) {
                    if hasStarted { throw CommandFailure(.unavailable, folder.lastWords) }
                    try startServer(lock)
                    hasStarted = true
                } else if waited >= (hasStarted ? Self.startBound : succession) {
                    throw CommandFailure(
                        .unavailable,
                        "A Redis server (\(folder.server)) still runs on '\(folder.data)' but does not listen on '\(folder.socket)'. "
                            + "End it and try again.")
                }
            // Also after another error: the command connects next, and is told why it cannot.
            default: return hasStarted
            }
            try await Self.pause()
        }
    }

    /// Starts the keeper, which starts the server and passes the lock on to it.
    private func startServer(_ lock: FileLock) throws(CommandFailure) {
        _ = try environment.server
        unlink(folder.socket)
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        let log = open(folder.log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        defer { for one in [null, log] { close(one) } }
        var variables = surroundings.environment.filter { !$0.key.hasPrefix("GANNET_") }
        variables["GANNET_HOME"] = environment.home
        variables["GANNET_REDIS_IDLE"] = TimeSpan.text(of: environment.idleTime)
        let pid = Spawn(
            program, words: ["gannet", "redis", "keep"], environment: variables, descriptors: [null, log, log, lock.descriptor],
            group: .session
        ).start()
        guard pid > 0 else {
            throw CommandFailure(.unavailable, "The private Redis cannot be started: \(Descriptor.message(-pid)).")
        }
    }

    /// Why the server cannot be used; nil where it can.
    private var trouble: RedisError.Kind? {
        get async {
            do throws(RedisError) {
                let connection = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: folder.socket)))
                await connection.close()
                return nil
            } catch {
                return error.kind
            }
        }
    }

    /// Nil when someone else still holds it at the end of the time.
    private static func take(
        _ path: String, _ mode: FileLock.Mode, within bound: Duration = .zero
    ) async throws(CommandFailure) -> FileLock? {
        let end = ContinuousClock.now + bound
        while true {
            if let lock = FileLock.take(path, mode) { return lock }
            guard errno == EWOULDBLOCK else {
                throw CommandFailure(.cannotWrite, "The lock file '\(path)' cannot be opened: \(Descriptor.message(errno)).")
            }
            guard ContinuousClock.now < end else { return nil }
            try await pause()
        }
    }

    private static func pause() async throws(CommandFailure) {
        do {
            try await Task.sleep(for: .milliseconds(10))
        } catch {
            throw CommandFailure(.interrupted, "Interrupted while waiting for the private Redis.")
        }
    }
}
