/// An estimate of the time that is left, from the speed so far: a pure function of moments. There is no estimate where the past says nothing
/// about the rest.
///
/// A list's last part is seldom like the rest: its hosts are slow, rest or are gone. So the speed of the last seconds has to agree with the
/// speed before, and must be at least a tenth of the usual speed.
package struct TimeLeft: Sendable {
    /// How many had ended at a moment.
    package struct Mark: Sendable, Equatable {
        package let seconds: Double
        package let ended: Int

        package init(seconds: Double, ended: Int) {
            self.seconds = seconds
            self.ended = ended
        }
    }

    /// Windows, in seconds. What is told follows the second.
    private static let latest = 3.0
    private static let recent = 10.0
    private static let long = 60.0

    private static let shortestSpan = 0.4

    /// How much faster or slower a window may be than the longer one, beside what chance does to few.
    private static let tolerance = 3.0
    private static let chance = 4.0

    /// Of the usual speed; what is slower goes its own way.
    private static let leastShare = 0.1

    /// Beyond a century it is no estimate, and no number that people or scripts could use.
    private static let longest = 3_155_760_000.0

    /// - Parameters:
    ///   - open: What has not ended.
    ///   - marks: The oldest first, the present last. The first tells what is usual.
    package static func estimate(open: Int, marks: [Mark]) -> Duration? {
        if open <= 0 { return .zero }
        guard let recent = Span(marks, recent), recent.ended > 0 else { return nil }
        // All would have ended in the time since the last end: the estimate was wrong, and told again it would stand still.
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

    /// From a moment to the present.
    private struct Span {
        let ended: Int
        let seconds: Double

        var perSecond: Double { Double(ended) / seconds }

        /// From the first moment in the window, or the last before it.
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
