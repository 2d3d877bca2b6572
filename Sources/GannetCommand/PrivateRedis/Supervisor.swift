import GannetBasics

/// The life of a private Redis, in a process and a session of its own: start it (or adopt one whose supervisor was killed), watch until
/// nobody has used it for the idle time, stop it.
///
/// A socket is only ever removed under the start lock: a supervisor whose server was killed just ends, since the socket it would
/// remove may already be its successor's.
struct Supervisor {
    private static let stopBound = Duration.seconds(60)
    private static let successionBound = Duration.seconds(30)

    let environment: PrivateRedisEnvironment

    func run() -> ExitStatus {
        do throws(CommandFailure) {
            let folder = try PrivateRedisFolder.prepare(home: environment.home)
            _ = chdir(folder.path)
            guard let lock = try becomeTheOnlyOne(folder) else {
                SupervisorReport.running.send()
                return .done
            }
            let termination = try TerminationPipe()
            var server: ServerProcess?
            if ServerConnection.state(of: folder.socket) == .gone {
                server = try ServerProcess.start(in: folder, searchPath: environment.searchPath)
            }
            guard let connection = ServerConnection.open(folder.socket, within: .seconds(5)) else {
                throw CommandFailure(
                    .unavailable, ServerProcess.endedAtStart(log: ServerLog(path: folder.log), since: 0))
            }
            SupervisorReport.running.send()
            watch(folder, lock, connection, termination)
            server?.reap(within: .seconds(30))
            return .done
        } catch {
            SupervisorReport.failed(error).send()
            return error.status
        }
    }

    /// Nil when another supervisor turns out to have a server that answers: the command that started that one was interrupted. One whose
    /// server has ended is about to end too, and is waited for.
    private func becomeTheOnlyOne(_ folder: PrivateRedisFolder) throws(CommandFailure) -> FileLock? {
        let end = ContinuousClock.now + Self.successionBound
        while true {
            if let lock = try FileLock.tryToTake(folder.supervisorLock, .exclusive) { return lock }
            let state = ServerConnection.state(of: folder.socket)
            if state == .ready || state == .loading { return nil }
            guard ContinuousClock.now < end else {
                throw CommandFailure(.unavailable, "Another supervisor of the private Redis neither has a server nor ends.")
            }
            usleep(10_000)
        }
    }

    /// Returns when the server has ended, by our doing or another's.
    private func watch(_ folder: PrivateRedisFolder, _ own: FileLock, _ connection: ServerConnection, _ termination: TerminationPipe) {
        let log = ServerLog(path: folder.log)
        var idle = IdleWatch(idleTime: environment.idleTime, now: .now, mark: FileLock.mark(of: folder.usersLock))
        var isTerminating = false
        while true {
            let wake = termination.wait(orFor: connection.descriptor, atMost: idle.interval)
            if wake == .descriptor, connection.hasClosed(within: .milliseconds(1)) { return }
            log.truncateWhenLarge()
            // With the folder or the socket removed, nobody will find this server again, though it has the data. The start lock is
            // not needed: no successor gets anywhere before our own lock is free, and nothing is removed here.
            let isLost = own.isOrphaned || access(folder.socket, F_OK) != 0
            if isLost, connection.shutDown(within: Self.stopBound) == nil { return }
            if wake == .terminated { isTerminating = true }
            if isTerminating {
                if stop(folder, connection, evenInUse: true) { return }
                continue
            }
            let inUse = (try? FileLock.tryToTake(folder.usersLock, .exclusive)) == nil
            let isTime = idle.look(now: .now, inUse: inUse, mark: FileLock.mark(of: folder.usersLock))
            if isTime, stop(folder, connection, evenInUse: false) { return }
        }
    }

    /// Holds both locks until the server is gone: whoever comes meanwhile waits for its turn and then starts another.
    private func stop(_ folder: PrivateRedisFolder, _ connection: ServerConnection, evenInUse: Bool) -> Bool {
        guard let start = try? FileLock.tryToTake(folder.startLock, .exclusive) else { return false }
        let users = try? FileLock.tryToTake(folder.usersLock, .exclusive)
        guard users != nil || evenInUse else { return false }
        defer { withExtendedLifetime((start, users)) {} }
        // A server that will not end is left alone, and asked again later: its data is worth more than its memory.
        guard connection.shutDown(within: Self.stopBound) == nil else { return false }
        unlink(folder.socket)
        return true
    }
}
