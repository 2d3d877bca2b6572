import GannetBase

/// Looks after a private Redis, in a process and a session of its own: starts it, waits until nobody has used it for the idle time, and stops it. A
/// server whose supervisor was killed is adopted.
///
/// A socket is only removed under the start lock. A supervisor whose server was killed just ends: the socket may already be its successor's.
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

    /// Nil when another supervisor has a server that answers: the command that started it was interrupted. A supervisor whose server has ended is
    /// about to end too, and is waited for.
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

    /// Returns when the server has ended, stopped from here or elsewhere.
    private func watch(_ folder: PrivateRedisFolder, _ own: FileLock, _ connection: ServerConnection, _ termination: TerminationPipe) {
        let log = ServerLog(path: folder.log)
        var idle = IdleWatch(idleTime: environment.idleTime, now: .now, mark: FileLock.mark(of: folder.usersLock))
        var isTerminating = false
        while true {
            let wake = termination.wait(orFor: connection.descriptor, atMost: idle.interval)
            if wake == .descriptor, connection.hasClosed(within: .milliseconds(1)) { return }
            log.truncateWhenLarge()
            // With the folder or the socket removed, no command will find this server again, though it has the data. The start lock is
            // not needed: no successor can start before this supervisor's lock is free, and nothing is removed here.
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

    /// Holds both locks until the server is gone. A command that comes meanwhile waits for its turn and then starts another.
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

/// Decides when the private Redis has been without a user for long enough: a pure function of time and of the lock's state.
struct IdleWatch: Sendable {
    let idleTime: Duration
    private var since: ContinuousClock.Instant
    private var mark: FileLock.Mark?

    /// The time counts from the server's start, for the user that started it and left at once.
    init(idleTime: Duration, now: ContinuousClock.Instant, mark: FileLock.Mark?) {
        self.idleTime = idleTime
        self.since = now
        self.mark = mark
    }

    /// `mark` is when the users' lock was last taken or given up: a user who came and went between two looks has moved it.
    mutating func look(now: ContinuousClock.Instant, inUse: Bool, mark: FileLock.Mark?) -> Bool {
        if inUse || mark != self.mark {
            since = now
            self.mark = mark
            return false
        }
        return now - since >= idleTime
    }

    /// How long to sleep before the next look: often enough to be on time, seldom enough to cost nothing.
    var interval: Duration {
        min(max(idleTime / 5, .milliseconds(20)), .seconds(5))
    }
}

/// SIGTERM as something to poll for, beside a connection: the supervisor has one thread and no tasks.
struct TerminationPipe {
    enum Wake: Equatable {
        case terminated
        case descriptor
        case time
    }

    private let read: Int32

    init() throws(CommandFailure) {
        guard let ends = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot open a pipe: \(Descriptor.message(errno)).")
        }
        _ = fcntl(ends.read, F_SETFL, O_NONBLOCK)
        read = ends.read
        Signals.forward([SIGTERM], to: ends.write)
    }

    func wait(orFor descriptor: Int32, atMost bound: Duration) -> Wake {
        var both = [pollfd(fd: read, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        let parts = bound.components
        _ = poll(&both, 2, Int32(clamping: parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000))
        if both[0].revents != 0 {
            var byte: UInt8 = 0
            while GannetBase.read(read, &byte, 1) == 1 {}
            return .terminated
        }
        return both[1].revents != 0 ? .descriptor : .time
    }
}
