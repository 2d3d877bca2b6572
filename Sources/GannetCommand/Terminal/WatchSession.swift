import ClusterState

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

    private let look: @Sendable () async throws -> StatusReport
    private let terminal: Terminal
    private let interruption: Interruption

    private static let pause = Duration.seconds(1)

    /// After how long without an answer what is shown is not called the present.
    private static let patience = Duration.seconds(3)

    init(on terminal: Terminal, _ interruption: Interruption, look: @escaping @Sendable () async throws -> StatusReport) {
        self.look = look
        self.terminal = terminal
        self.interruption = interruption
    }

    func run() async throws -> ExitStatus {
        // An error at the beginning is printed as by any command.
        let first = try await look()
        let input = try TerminalInput()
        let (events, sender) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
        let tasks = [
            Task { for await event in input.events { sender.yield(.input(event)) } },
            Task { for await _ in interruption.stops { sender.yield(.interrupted) } },
            Task { while (try? await Task.sleep(for: Self.pause)) != nil { sender.yield(.tick) } },
            Task { await watch(sender) },
        ]
        defer { for task in tasks { task.cancel() } }
        return try await show(first, events)
    }

    private func watch(_ sender: AsyncStream<Event>.Continuation) async {
        while (try? await Task.sleep(for: Self.pause)) != nil {
            do {
                sender.yield(.seen(try await look()))
            } catch {
                sender.yield(.failed(CommandFailure(error)))
            }
        }
    }

    private func show(_ first: StatusReport, _ events: AsyncStream<Event>) async throws -> ExitStatus {
        let screen = AlternateScreen(terminal)
        defer { withExtendedLifetime(screen) {} }
        var status = first
        var seen = ContinuousClock.now
        var trouble: String?
        var isOver = false
        func draw() -> Bool {
            let silence = ContinuousClock.now - seen
            let sentence = trouble ?? (silence > Self.patience ? "Redis does not answer." : nil)
            let shown = sentence.map { "\($0) This is what was \(Amounts.roughTime(silence)) ago." }
            return screen.draw(
                WatchScreen(status: status, trouble: shown, isOver: isOver, size: terminal.size, style: terminal.style).lines)
        }
        // A terminal that is gone has nobody before it.
        guard draw() else { return .done }
        for await event in events {
            switch event {
            case .seen(let report):
                (seen, trouble) = (.now, nil)
                // A run removes its queue at its end. Its last state says more than an empty one.
                isOver = report.isUnknown && !status.isUnknown && status.name.hasPrefix(RunIdentity.prefix)
                if !isOver { status = report }
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
