import GannetBase

/// A worker process of the demonstration, and what it has said of itself.
final class DemoWorker: Sendable {
    let name: String
    /// Nil once it has ended: another process may have its number then.
    private let running: Mutex<pid_t?>
    private let fetched = Mutex(0)
    private let ended: AsyncStream<Void>

    /// How many requests each has in flight.
    static let concurrency = 6
    static let lease = Duration.seconds(3)
    private static let fetchedLine = Array("gannet: fetched ".utf8)

    init(_ name: String, redis: String, home: String) throws(CommandFailure) {
        self.name = name
        guard let errors = Descriptor.pipe() else { throw Self.unstarted(errno) }
        defer { close(errors.write) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        // No setting of the user's environment reaches the demonstration.
        let pid = Spawn(
            Executable.path, words: ["gannet"] + Self.arguments(redis: redis),
            environment: ["PATH": "/usr/bin:/bin", "HOME": home, "GANNET_HOME": home], descriptors: [null, null, errors.write],
            group: .session
        ).start()
        guard pid > 0 else {
            close(errors.read)
            throw Self.unstarted(-pid)
        }
        let (ended, ender) = AsyncStream.makeStream(of: Void.self)
        self.ended = ended
        running = Mutex(pid)
        OwnedThread.start(name: "gannet-demo") {
            self.follow(errors.read)
            close(errors.read)
            self.reap(pid)
            ender.finish()
        }
    }

    var fetchedPages: Int { fetched.withLock { $0 } }

    /// As when its machine loses power.
    func kill() { send(SIGKILL) }

    /// Asks it to end in good order.
    func stop() { send(SIGTERM) }

    func waitUntilEnded() async { for await _ in ended {} }

    private func send(_ signal: Int32) {
        running.withLock { pid in
            if let pid { _ = GannetBase.kill(pid, signal) }
        }
    }

    private static func arguments(redis: String) -> [String] {
        [
            "work", "--redis", redis, "--allow-net", "127.0.0.0/8", "--allow-net", "::1", "--concurrency", "\(concurrency)",
            "--host-limit", "9", "--lease", "\(lease.components.seconds)s", "--verbose",
        ]
    }

    private static func unstarted(_ code: Int32) -> CommandFailure {
        CommandFailure(.unavailable, "A worker cannot be started: \(Descriptor.message(code)).")
    }

    /// Counts the lines that tell of a page, until the worker has ended and so closed its end.
    private func follow(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        // As much of the current line as it takes to know what it is.
        var line: [UInt8] = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    if line == Self.fetchedLine { fetched.withLock { $0 += 1 } }
                    line.removeAll(keepingCapacity: true)
                } else if line.count < Self.fetchedLine.count {
                    line.append(byte)
                }
            }
        }
    }

    /// Waits without collecting it first: until then the number is its own, and may be sent signals.
    private func reap(_ pid: pid_t) {
        var end = siginfo_t()
        _ = waitid(P_PID, id_t(pid), &end, WEXITED | WNOWAIT)
        running.withLock { running in
            waitpid(pid, nil, 0)
            running = nil
        }
    }
}
