/// The past of a queue: a few moments, and the rates between them. No clock inside.
package struct QueueHistory: Sendable {
    /// The present is the last of them. Totals never decrease from one to the next.
    private let moments: [QueueSample]

    /// Rates are told of this time.
    private static let minute = 60_000

    /// Workers note a moment about every five seconds; a longer pause means that there was none.
    private static let usualStep = 5000
    private static let longestStep = 15_000

    /// Two moments nearer to each other tell no rate.
    private static let shortestSpan = 500

    init(_ overview: QueueOverview) {
        let counts = overview.counts
        let present = QueueSample(
            time: overview.now, done: counts.done, failed: counts.failed, bytes: counts.bytes,
            open: counts.open)
        var moments: [QueueSample] = []
        for sample in overview.samples + [present] {
            // The queue was cleared, or has fallen back to an older state: the samples before count no longer.
            if let last = moments.last, sample.time < last.time || sample.done < last.done || sample.bytes < last.bytes { moments = [] }
            moments.append(sample)
        }
        self.moments = moments
    }

    /// From the first moment of the last minute to the present; where there is none, from the last before it.
    package var rate: QueueRate? {
        guard let present = moments.last else { return nil }
        let earlier = moments.dropLast().filter { present.time - $0.time >= Self.shortestSpan }
        guard let base = earlier.first(where: { present.time - $0.time <= Self.minute }) ?? earlier.last else { return nil }
        let seconds = Double(present.time - base.time) / 1000
        let done = Double(present.done - base.done)
        return QueueRate(
            donePerSecond: done / seconds, endedPerSecond: (done + Double(max(0, present.failed - base.failed))) / seconds,
            bytesPerSecond: Double(present.bytes - base.bytes) / seconds)
    }

    /// When all will have ended, at the speed so far.
    func remaining(open: Int) -> Duration? {
        TimeLeft.estimate(open: open, marks: moments.map { .init(seconds: Double($0.time) / 1000, ended: $0.done + $0.failed) })
    }

    /// From the first moment to the present.
    package var length: Duration { .milliseconds((moments.last?.time ?? 0) - (moments.first?.time ?? 0)) }

    /// Jobs that ended a second, in so many steps of this length up to the present; `nil` for steps from before anything was noted.
    package func throughput(steps: Int, of step: Duration) -> [Double?] {
        let seconds = step / .seconds(1)
        return series(steps, step) { start, end in
            guard let before = ended(at: start), let after = ended(at: end) else { return nil }
            return max(0, after - before) / seconds
        }
    }

    /// Jobs that had not ended, at the ends of such steps.
    package func depth(steps: Int, of step: Duration) -> [Double?] {
        series(steps, step) { _, end in value(at: end) { Double($0.open) } }
    }

    private func series(_ steps: Int, _ step: Duration, _ value: (Double, Double) -> Double?) -> [Double?] {
        let length = step / .milliseconds(1)
        guard steps > 0, length > 0, let present = moments.last else { return [] }
        return (0..<steps).map { index in
            let end = Double(present.time) - Double(steps - 1 - index) * length
            return value(end - length, end)
        }
    }

    private func ended(at time: Double) -> Double? { value(at: time) { Double($0.done + $0.failed) } }

    /// Between two moments the speed was even. Between two distant moments nobody worked at first: then all of it happened right before the
    /// second.
    private func value(at time: Double, _ number: (QueueSample) -> Double) -> Double? {
        guard let next = moments.firstIndex(where: { Double($0.time) >= time }) else { return nil }
        let after = moments[next]
        if Double(after.time) == time { return number(after) }
        guard next > 0 else { return nil }
        let before = moments[next - 1]
        let start = after.time - before.time > Self.longestStep ? after.time - Self.usualStep : before.time
        let share = max(0, (time - Double(start)) / Double(after.time - start))
        return number(before) + (number(after) - number(before)) * share
    }
}

/// How fast a queue goes.
package struct QueueRate: Sendable, Equatable {
    package let donePerSecond: Double
    /// Done or given up.
    package let endedPerSecond: Double
    package let bytesPerSecond: Double
}
