import Testing

@testable import GannetCommand

@Suite struct ComplaintLimitTests {
    @Test func `the first failures are reported, then a few a minute with the number of the others`() {
        var limit = ComplaintLimit(atFirst: 20, aMinute: 5)
        let start = ContinuousClock.now
        for _ in 0..<20 { #expect(limit.note(at: start) == 0) }
        for second in 1...10 { #expect(limit.note(at: start + .seconds(second)) == nil) }
        #expect(limit.note(at: start + .seconds(60)) == 10)
        for _ in 1..<5 { #expect(limit.note(at: start + .seconds(61)) == 0) }
        #expect(limit.note(at: start + .seconds(119)) == nil)
        #expect(limit.rest() == 1 && limit.rest() == 0)
        #expect(limit.note(at: start + .seconds(9999)) == 0)
    }

    @Test func `a worker that fails all day says little`() {
        var limit = ComplaintLimit(atFirst: 20, aMinute: 5)
        let start = ContinuousClock.now
        let told = (0..<86_400).count { second in
            (0..<10).contains { _ in limit.note(at: start + .seconds(second)) != nil }
        }
        #expect(told <= 20 + 5 * 1440)
    }

    @Test func `classes beyond a bound count as one`() {
        var classes = ClassCounts()
        for number in 0..<1000 { classes.add(1, of: "class \(number)") }
        #expect(classes.counts.count == ClassCounts.most)
        #expect(classes.counts.values.reduce(0, +) == 1000 && classes.sorted.first?.errorClass == ClassCounts.other)
    }
}
