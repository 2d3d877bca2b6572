import GannetQueue

/// `status --watch` on a terminal: looks every second, draws what has changed, and ends on `q` or a signal.
struct WatchSession: Sendable {
    private enum Event: Sendable {
        case seen(StatusReport)
        case failed(CommandFailure)
        case input(TerminalInput.Event)
        /// A second has gone by.
        case tick
        case interrupted
    }

    private let look: @Sendable (StatusReport?) async throws -> StatusReport
    private let terminal: Terminal
    private let interruption: Interruption

    private static let pause = Duration.seconds(1)

    /// After how long without an answer what is shown is not called the present.
    private static let patience = Duration.seconds(3)

    /// - Parameter look: Receives the look before.
    init(on terminal: Terminal, _ interruption: Interruption, look: @escaping @Sendable (StatusReport?) async throws -> StatusReport) {
        self.look = look
        self.terminal = terminal
        self.interruption = interruption
    }

    func run() async throws -> ExitStatus {
        // An error at the beginning is printed as by any command.
        let first = try await look(nil)
        let input = try TerminalInput()
        let (events, sender) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
        let tasks = [
            Task { for await event in input.events { sender.yield(.input(event)) } },
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
            case .input(.key(UInt8(ascii: "q"))), .input(.key(UInt8(ascii: "Q"))): return .done
            case .input(.key(Self.controlZ)): screen.suspend()
            case .input(.key(Self.controlL)): screen.forget()
            case .input, .tick: break
            case .interrupted: return interruption.status
            }
            guard draw() else { return .done }
        }
        return interruption.status
    }

    private static let controlZ: UInt8 = 26
    private static let controlL: UInt8 = 12
}

/// A queue as a watcher has seen it. It has no clock inside.
struct WatchedQueue: Sendable {
    /// The last look at the queue while it was there.
    private(set) var status: StatusReport
    private(set) var looks = QueueLooks()

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
