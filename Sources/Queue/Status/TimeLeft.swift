/// Estimates the time that is left from the speed so far. It is a pure function of past counts. There is no estimate where the past does
/// not predict the rest.
///
/// The last part of a list is seldom like the rest: its hosts are slow, pause or are gone. So the speed of the last seconds has to agree
/// with the speed before, and must be at least a tenth of the usual speed.
package struct TimeLeft: Sendable {
    /// How many jobs had ended at one moment.
    package struct Mark: Sendable, Equatable {
        package let seconds: Double
        package let ended: Int

        package init(seconds: Double, ended: Int) {
            self.seconds = seconds
            self.ended = ended
        }
    }

    /// The windows, in seconds. The estimate is made from the window `recent`.
    private static let latest = 3.0
    private static let recent = 10.0
    private static let long = 60.0

    private static let shortestSpan = 0.4

    /// How many times faster or slower a window may be than the longer one. A difference of `chance` jobs is always allowed, because small
    /// counts vary by chance.
    private static let tolerance = 3.0
    private static let chance = 4.0

    /// The least share of the usual speed that gives an estimate.
    private static let leastShare = 0.1

    /// A century, in seconds. A longer estimate would be of no use to people or scripts.
    private static let longest = 3_155_760_000.0

    /// - Parameters:
    ///   - open: How many jobs have not ended.
    ///   - marks: The oldest first, the present last. The usual speed is counted from the first.
    package static func estimate(open: Int, marks: [Mark]) -> Duration? {
        if open <= 0 { return .zero }
        guard let recent = Span(marks, recent), recent.ended > 0 else { return nil }
        // No job has ended for as long as the estimate gave all jobs. So the estimate was wrong, and a repeated one would stand still.
        if let present = marks.last, let last = marks.last(where: { $0.ended < present.ended }),
            let next = marks.first(where: { $0.seconds > last.seconds }),
            present.seconds - next.seconds > max(latest, Double(open) / recent.perSecond)
        {
            return nil
        }
        if let latest = Span(marks, latest), !latest.agrees(with: recent) { return nil }
        if let long = Span(marks, long), !recent.agrees(with: long) { return nil }
        if let usual = Span(marks, .infinity), recent.perSecond < usual.perSecond * leastShare { return nil }
        return .seconds(min(Double(open) / recent.perSecond, longest))
    }

    /// The time from a mark to the present.
    private struct Span {
        let ended: Int
        let seconds: Double

        var perSecond: Double { Double(ended) / seconds }

        /// Begins at the first mark in the window, or at the last mark before the window.
        init?(_ marks: [Mark], _ window: Double) {
            guard let present = marks.last else { return nil }
            let earlier = marks.dropLast().filter { present.seconds - $0.seconds >= shortestSpan }
            guard let base = earlier.first(where: { present.seconds - $0.seconds <= window }) ?? earlier.last else { return nil }
            ended = max(0, present.ended - base.ended)
            seconds = present.seconds - base.seconds
        }

        func agrees(with longer: Span) -> Bool {
            let expected = longer.perSecond * seconds
            return Double(ended) + chance >= expected / tolerance && Double(ended) <= expected * tolerance + chance
        }
    }
}
