/// The past of a queue: the moments at which it was looked at, and what happened between them. It has no clock inside.
///
/// One rule says what happened between two looks. New jobs came right after the earlier look, and jobs ended at an even pace until the
/// later look. A worker looks every few seconds, so no worker was there in the rest of a longer gap. The jobs that ended in such a gap
/// ended in its first seconds, nothing changed after them, and new jobs came at its end.
package struct QueueHistory: Sendable {
    /// The last look is the present. Totals never decrease from one look to the next.
    private let moments: [QueueSample]

    /// The time over which a rate is taken, in milliseconds.
    private static let minute = 60_000
    private static let second = 1000

    /// Workers add a sample about every five seconds. In a longer gap there was no worker after the first seconds.
    private static let usualStep = 5000
    private static let longestStep = 8000

    /// Two samples that are closer together give no rate.
    private static let shortestSpan = 500

    /// - Parameter looks: The looks of a watcher, the oldest first. They replace workers' samples of about the same time.
    package init(_ overview: QueueOverview, looks: [QueueSample] = []) {
        var next = 0
        let recorded = overview.samples.filter { sample in
            while next < looks.count, looks[next].time < sample.time { next += 1 }
            let isBeforeLook = next < looks.count && looks[next].time - sample.time < Self.second
            let isAfterLook = next > 0 && sample.time - looks[next - 1].time < Self.second
            return !isBeforeLook && !isAfterLook
        }
        let seen = looks.isEmpty ? recorded : (recorded + looks).sorted { $0.time < $1.time }
        var moments: [QueueSample] = []
        for sample in seen + [overview.present] {
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

    /// The highest speed in each of `steps` intervals of length `step`, in ended jobs per second. The present is in the last interval.
    /// `nil` for intervals before the first look.
    package func throughput(steps: Int, of step: Duration) -> [Double?] {
        var series = Series(steps, step, present: moments.last)
        for piece in pieces { series.note(piece) { _ in piece.perSecond } }
        return series.values
    }

    /// The highest number of jobs that had not ended, in each of such intervals.
    package func depth(steps: Int, of step: Duration) -> [Double?] {
        var series = Series(steps, step, present: moments.last)
        for moment in moments { series.note(Double(moment.open), at: Double(moment.time)) }
        for piece in pieces { series.note(piece) { piece.open(at: $0) } }
        return series.values
    }

    /// A time in which jobs ended at an even pace, and no new jobs came after its beginning.
    private struct Piece {
        let start: Double
        let end: Double
        let perSecond: Double
        /// Jobs that had not ended, at the beginning and at the end. The number never rises.
        let first: Double
        let last: Double

        func open(at time: Double) -> Double { first + (last - first) * (time - start) / (end - start) }
    }

    private var pieces: [Piece] {
        zip(moments, moments.dropFirst()).flatMap { earlier, later -> [Piece] in
            let (start, end) = (Double(earlier.time), Double(later.time))
            guard end > start else { return [] }
            let ended = Double(max(0, later.done - earlier.done) + max(0, later.failed - earlier.failed))
            let (before, after) = (Double(earlier.open), Double(later.open))
            guard later.time - earlier.time > Self.longestStep else {
                // The speed of a part of a second is that of a whole one.
                let seconds = max(1, (end - start) / Double(Self.second))
                return [Piece(start: start, end: end, perSecond: ended / seconds, first: max(before, after), last: after)]
            }
            let (quiet, left) = (start + Double(Self.usualStep), max(0, before - ended))
            let perSecond = ended * Double(Self.second) / Double(Self.usualStep)
            return [
                Piece(start: start, end: quiet, perSecond: perSecond, first: before, last: left),
                Piece(start: quiet, end: end, perSecond: 0, first: left, last: left),
            ]
        }
    }

    /// The highest value in each of some intervals. An interval begins and ends at a multiple of its length, so its value stays the same
    /// while the present moves on.
    private struct Series {
        private(set) var values: [Double?]
        private let length: Double
        private let first: Double

        init(_ steps: Int, _ step: Duration, present: QueueSample?) {
            length = step / .milliseconds(1)
            let isEmpty = length <= 0 || present == nil
            values = Array(repeating: nil, count: isEmpty ? 0 : max(0, steps))
            first = isEmpty ? 0 : (Double(present?.time ?? 0) / length).rounded(.up) - Double(steps)
        }

        mutating func note(_ value: Double, at time: Double) {
            guard !values.isEmpty else { return }
            raise((time / length).rounded(.up) - 1 - first, to: value)
        }

        /// - Parameter value: The value at a time of the piece. It never rises from one time to a later one.
        mutating func note(_ piece: Piece, _ value: (Double) -> Double) {
            guard !values.isEmpty else { return }
            var index = max(0, (piece.start / length).rounded(.down) - first)
            while index < Double(values.count), (index + first) * length < piece.end {
                raise(index, to: value(max(piece.start, (index + first) * length)))
                index += 1
            }
        }

        private mutating func raise(_ index: Double, to value: Double) {
            guard index >= 0, index < Double(values.count) else { return }
            values[Int(index)] = max(values[Int(index)] ?? value, value)
        }
    }
}

extension [QueueSample] {
    /// Adds a look of somebody who watches a queue. Such looks are closer together than the samples of workers, and go on without a worker.
    package mutating func note(_ overview: QueueOverview) {
        if let last, overview.now < last.time { self = [] }
        append(overview.present)
        // As long as Redis keeps samples, in milliseconds.
        let kept = 900_000
        if let old = firstIndex(where: { overview.now - $0.time <= kept }) { removeFirst(old) }
    }
}

/// The speed of a queue.
package struct QueueRate: Sendable, Equatable {
    package let donePerSecond: Double
    /// Jobs that were done or given up, a second.
    package let endedPerSecond: Double
    package let bytesPerSecond: Double
}
