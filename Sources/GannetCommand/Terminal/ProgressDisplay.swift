import GannetBasics

/// Shows a command's progress while it works: drawn anew a few times a second on a terminal, elsewhere a line now and then.
struct ProgressDisplay: Sendable {
    private let tally: WorkTally
    private let console: Console
    private let task: Task<Void, Never>

    private static let redraw = Duration.milliseconds(200)
    /// More often than a line is told: the time left is estimated from the last looks.
    private static let look = Duration.seconds(1)
    private static let looksOfLine = 10

    /// Begins at once.
    init(of tally: WorkTally, on console: Console) {
        self.tally = tally
        self.console = console
        let terminal = console.terminal
        task = Task { [terminal] in
            if let terminal {
                await Self.draw(tally, console, terminal)
            } else {
                await Self.tell(tally, console)
            }
        }
    }

    /// Removes the drawn lines.
    func end() async {
        task.cancel()
        await task.value
        console.live.end()
    }

    private static func draw(_ tally: WorkTally, _ console: Console, _ terminal: Terminal) async {
        repeat {
            guard terminal.isForeground else { continue }
            let lines = ProgressLines.lines(tally.snapshot(at: .now), columns: terminal.size.columns, terminal.style)
            console.live.show(lines, on: terminal)
        } while (try? await Task.sleep(for: redraw)) != nil
    }

    private static func tell(_ tally: WorkTally, _ console: Console) async {
        _ = tally.snapshot(at: .now)
        var last = ""
        var looks = 0
        while (try? await Task.sleep(for: look)) != nil {
            let now = tally.snapshot(at: .now)
            looks += 1
            guard looks.isMultiple(of: looksOfLine) else { continue }
            // A worker that has nothing to do for days need not say so every ten seconds.
            let told = "\(now.fetched) \(now.there) \(now.failed) \(now.slowestHosts)"
            if now.whole?.name != nil || now.whole == nil, told == last { continue }
            last = told
            console.note(ProgressText.line(now), [(key: "event", value: "progress")] + ProgressText.facts(now))
        }
    }
}
