import GannetBase
import GannetQueue

/// `status --watch` on a terminal: looks every second, draws what has changed, and ends on `q` or a signal.
struct WatchSession: Sendable {
    private enum Event: Sendable {
        case seen(StatusReport)
        case failed(CommandFailure)
        case key(UInt8)
        /// A second has gone by, or the terminal has another size.
        case tick
        case interrupted
    }

    let terminal: Terminal
    let interruption: Interruption
    /// Receives the look before.
    let look: @Sendable (StatusReport?) async throws -> StatusReport

    private static let pause = Duration.seconds(1)

    /// After how long without an answer what is shown is not called the present.
    private static let patience = Duration.seconds(3)

    func run() async throws -> ExitStatus {
        // An error at the beginning is printed as by any command.
        let first = try await look(nil)
        // A key that is held down must not fill the memory.
        let (events, sender) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
        try Self.readTerminal(sender)
        let tasks = [
            Task { for await _ in interruption.stops { sender.yield(.interrupted) } },
            Task { while (try? await Task.sleep(for: Self.pause)) != nil { sender.yield(.tick) } },
            Task { await watch(after: first, sender) },
        ]
        defer { for task in tasks { task.cancel() } }
        return try await show(first, events)
    }

    private func watch(after first: StatusReport, _ sender: AsyncStream<Event>.Continuation) async {
        var last = first
        while (try? await Task.sleep(for: Self.pause)) != nil {
            do {
                last = try await look(last)
                sender.yield(.seen(last))
            } catch {
                sender.yield(.failed(CommandFailure(error)))
            }
        }
    }

    private func show(_ first: StatusReport, _ events: AsyncStream<Event>) async throws -> ExitStatus {
        let screen = AlternateScreen(terminal)
        defer { withExtendedLifetime(screen) {} }
        var watched = WatchedQueue(first)
        var seen = ContinuousClock.now
        var trouble: String?
        func draw() -> Bool {
            let silence = ContinuousClock.now - seen
            let sentence = trouble ?? (silence > Self.patience ? "Redis does not answer." : nil)
            let shown = sentence.map { "\($0) This is what was \(Amounts.roughTime(silence)) ago." }
            return screen.draw(
                WatchScreen(
                    status: watched.status, looks: watched.looks, trouble: shown, goneAfter: watched.goneAfter, size: terminal.size,
                    style: terminal.style
                ).lines)
        }
        // A terminal that is gone has nobody before it.
        guard draw() else { return .done }
        for await event in events {
            switch event {
            case .seen(let report):
                (seen, trouble) = (.now, nil)
                watched.note(report)
            case .failed(let failure):
                guard failure.status == .unavailable else { throw failure }
                trouble = failure.message ?? "Redis is away."
            case .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")): return .done
            case .key(Self.controlZ): screen.suspend()
            case .key(Self.controlL): screen.forget()
            case .key, .tick: break
            case .interrupted: return interruption.status
            }
            guard draw() else { return .done }
        }
        return interruption.status
    }

    private static let controlZ: UInt8 = 26
    private static let controlL: UInt8 = 12

    /// Sends the keys that are pressed, and changes of the terminal's size. Once for each process: the thread waits until that ends.
    private static func readTerminal(_ sender: AsyncStream<Event>.Continuation) throws {
        guard let ends = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot watch the terminal: \(Descriptor.message(errno)).")
        }
        let (resizes, input) = (ends.read, Surroundings.current.input)
        OwnedThread.start(name: "gannet-keys") {
            var sources = [pollfd(fd: resizes, events: Int16(POLLIN), revents: 0)]
            if isatty(input) == 1 { sources.append(pollfd(fd: input, events: Int16(POLLIN), revents: 0)) }
            var bytes = [UInt8](repeating: 0, count: 64)
            while true {
                if poll(&sources, nfds_t(sources.count), -1) < 0, errno != EINTR { return }
                for index in sources.indices.reversed() where sources[index].revents != 0 {
                    let count = read(sources[index].fd, &bytes, bytes.count)
                    if index == 0 {
                        sender.yield(.tick)
                    } else if count > 0 {
                        for byte in bytes[..<count] { sender.yield(.key(byte)) }
                    } else if count == 0 || errno != EINTR && errno != EAGAIN {
                        // The keyboard is gone; the screen may still be watched.
                        sources.remove(at: index)
                    }
                }
            }
        }
        Signals.forward([SIGWINCH], to: ends.write)
    }
}

/// A queue as a watcher has seen it. It has no clock inside.
struct WatchedQueue: Sendable {
    /// The last look at the queue while it was there.
    private(set) var status: StatusReport
    private(set) var looks: [QueueSample] = []

    /// How long after that look the queue of a run was gone; `nil` while it is there.
    private(set) var goneAfter: Duration?

    init(_ first: StatusReport) {
        status = first
        looks.note(first.report)
    }

    mutating func note(_ report: StatusReport) {
        // A run removes its queue at its end. Its last counts say more than none.
        if report.unknown != nil, status.unknown == nil, status.name.hasPrefix(RunIdentity.prefix) {
            goneAfter = goneAfter ?? .milliseconds(max(0, report.report.now - status.report.now))
            return
        }
        (goneAfter, status) = (nil, report)
        looks.note(report.report)
    }
}
