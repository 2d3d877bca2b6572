import Testing

@testable import GannetCommand

@Suite struct ComplaintLimitTests {
    @Test func `the first failures are reported, then a few a minute with the number of the others`() {
        var limit = ComplaintLimit(atFirst: 20, aMinute: 5)
        let start = ContinuousClock.now
        for _ in 0..<20 { #expect(limit.note(at: start) == .tell) }
        for second in 1...10 { #expect(limit.note(at: start + .seconds(second)) == .keep) }
        #expect(limit.note(at: start + .seconds(60)) == .tellAfter(10))
        for _ in 1..<5 { #expect(limit.note(at: start + .seconds(61)) == .tell) }
        #expect(limit.note(at: start + .seconds(119)) == .keep)
        #expect(limit.rest() == 1 && limit.rest() == nil)
        #expect(limit.note(at: start + .seconds(9999)) == .tell)
    }

    @Test func `a worker that fails all day says little`() {
        var limit = ComplaintLimit(atFirst: 20, aMinute: 5)
        let start = ContinuousClock.now
        let told = (0..<86_400).count { second in
            (0..<10).contains { _ in limit.note(at: start + .seconds(second)) != .keep }
        }
        #expect(told <= 20 + 5 * 1440)
    }

    @Test func `a queue whose number of accepted jobs falls has lost jobs, and each fall counts once`() {
        var watch = LossWatch()
        #expect(watch.note(accepted: 0) == nil && watch.note(accepted: 20_000) == nil)
        #expect(watch.note(accepted: 20_000) == nil)
        #expect(watch.note(accepted: 5) == 20_000)
        #expect(watch.note(accepted: 5) == nil && watch.note(accepted: 9) == nil)
        #expect(watch.losses == 1)
    }

    @Test func `classes beyond a bound count as one`() {
        var classes = ClassCounts()
        for number in 0..<1000 { classes.add(1, of: "class \(number)") }
        #expect(classes.counts.count == ClassCounts.most)
        #expect(classes.counts.values.reduce(0, +) == 1000 && classes.sorted.first?.errorClass == ClassCounts.other)
    }
}
