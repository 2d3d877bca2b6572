/// The past of a queue: a few samples, and the rates between them. It has no clock inside.
package struct QueueHistory: Sendable {
    /// The last sample is the present. Totals never decrease from one sample to the next.
    private let moments: [QueueSample]

    /// The time over which a rate is taken, in milliseconds.
    private static let minute = 60_000

    /// Workers add a sample about every five seconds. A longer gap means that there was no worker.
    private static let usualStep = 5000
    private static let longestStep = 15_000

    /// Two samples that are closer together give no rate.
    private static let shortestSpan = 500

    init(_ overview: QueueOverview) {
        let counts = overview.counts
        let present = QueueSample(
            time: overview.now, done: counts.done, failed: counts.failed, bytes: counts.bytes,
            open: counts.open)
        var moments: [QueueSample] = []
        for sample in overview.samples + [present] {
            // The queue was cleared, or Redis fell back to an older state: the samples before no longer count.
            if let last = moments.last, sample.time < last.time || sample.done < last.done || sample.bytes < last.bytes { moments = [] }
            moments.append(sample)
        }
        self.moments = moments
    }

    /// The rate from the first sample of the last minute to the present. Where that minute has no sample, the rate begins at the last
    /// sample before.
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

    /// How long until all open jobs will have ended, at the speed so far.
    func remaining(open: Int) -> Duration? {
        TimeLeft.estimate(open: open, marks: moments.map { .init(seconds: Double($0.time) / 1000, ended: $0.done + $0.failed) })
    }

    /// The time from the first sample to the present.
    package var length: Duration { .milliseconds((moments.last?.time ?? 0) - (moments.first?.time ?? 0)) }

    /// Ended jobs per second, for each of `steps` intervals of length `step` up to the present. `nil` for intervals before the first
    /// sample.
    package func throughput(steps: Int, of step: Duration) -> [Double?] {
        let seconds = step / .seconds(1)
        return series(steps, step) { start, end in
            guard let before = ended(at: start), let after = ended(at: end) else { return nil }
            return max(0, after - before) / seconds
        }
    }

    /// How many jobs had not ended, at the end of each of such intervals.
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

    /// Interpolates: between two samples the speed is taken as even. Between two distant samples there was no worker at first, so all the
    /// work counts as done right before the second sample.
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

/// The speed of a queue.
package struct QueueRate: Sendable, Equatable {
    package let donePerSecond: Double
    /// Jobs that were done or given up, a second.
    package let endedPerSecond: Double
    package let bytesPerSecond: Double
}
