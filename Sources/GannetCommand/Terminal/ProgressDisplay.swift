import GannetBase

/// Shows a command's progress while it works: drawn anew a few times a second on a terminal, elsewhere a line now and then.
extension WorkTally {
    private static let redraw = Duration.milliseconds(200)
    /// A line is told less often than is looked: the time left is estimated from the last looks.
    private static let looksOfLine = 10

    /// Shows the progress until `work` has ended, and then the messages that were kept back.
    /// - Parameter early: Of a run, which the progress offers to end.
    func showing<Value: Sendable>(_ early: EarlyEnd? = nil, _ work: () async throws -> Value) async -> Result<Value, any Error> {
        let display = Task {
            if let terminal = console.terminal { await draw(on: terminal, early) } else { await tell(early) }
        }
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
        display.cancel()
        await display.value
        early?.giveKeysBack()
        console.live.end()
        finish()
        return outcome
    }

    private func draw(on terminal: Terminal, _ early: EarlyEnd?) async {
        repeat {
            guard terminal.isForeground else { continue }
            early?.lookForKey()
            let lines = snapshot(at: .now).lines(columns: terminal.size.columns, terminal.style, offer: early?.offer)
            console.live.show(lines, on: terminal)
        } while (try? await Task.sleep(for: Self.redraw)) != nil
    }

    private func tell(_ early: EarlyEnd?) async {
        let look = Times.current.progress
        _ = snapshot(at: .now)
        var last = ""
        var hasOffered = false
        var looks = 0
        while (try? await Task.sleep(for: look)) != nil {
            let now = snapshot(at: .now)
            looks += 1
            guard looks.isMultiple(of: Self.looksOfLine) else { continue }
            // A worker that has nothing to do for days need not say so every ten seconds.
            let told = "\(now.counts.count(of: .fetched)) \(now.counts.there) \(now.counts.failed) \(now.slowestHosts)"
            if now.whole?.name != nil || now.whole == nil, told == last { continue }
            last = told
            console.note(now.line, [(key: "event", value: "progress")] + now.facts)
            guard !hasOffered, now.isHeldUp, let offer = early?.offer else { continue }
            hasOffered = true
            console.note("\(offer).")
        }
    }
}
