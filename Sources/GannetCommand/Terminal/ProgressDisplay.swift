import GannetBase

/// Shows a command's progress while it works: drawn anew a few times a second on a terminal, elsewhere a line now and then.
struct ProgressDisplay: Sendable {
    private let tally: WorkTally
    private let console: Console
    private let early: EarlyEnd?
    private let task: Task<Void, Never>

    private static let redraw = Duration.milliseconds(200)
    /// A line is told less often than is looked: the time left is estimated from the last looks.
    private static let looksOfLine = 10

    /// Begins at once.
    /// - Parameter early: Of a run, which the progress offers to end.
    init(of tally: WorkTally, on console: Console, _ early: EarlyEnd? = nil) {
        self.tally = tally
        self.console = console
        self.early = early
        let terminal = console.terminal
        task = Task { [terminal] in
            if let terminal {
                await Self.draw(tally, console, terminal, early)
            } else {
                await Self.tell(tally, console, early)
            }
        }
    }

    /// Removes the drawn lines.
    func end() async {
        task.cancel()
        await task.value
        early?.giveKeysBack()
        console.live.end()
    }

    private static func draw(_ tally: WorkTally, _ console: Console, _ terminal: Terminal, _ early: EarlyEnd?) async {
        repeat {
            guard terminal.isForeground else { continue }
            early?.lookForKey()
            let lines = ProgressLines.lines(
                tally.snapshot(at: .now), columns: terminal.size.columns, terminal.style, offer: early?.offer)
            console.live.show(lines, on: terminal)
        } while (try? await Task.sleep(for: redraw)) != nil
    }

    private static func tell(_ tally: WorkTally, _ console: Console, _ early: EarlyEnd?) async {
        let look = Times.current.progress
        _ = tally.snapshot(at: .now)
        var last = ""
        var hasOffered = false
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
            guard !hasOffered, now.isHeldUp, let offer = early?.offer else { continue }
            hasOffered = true
            console.note("\(offer).")
        }
    }
}
