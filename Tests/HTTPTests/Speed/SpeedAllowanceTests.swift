import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite struct SpeedAllowanceTests {
    private let start = ContinuousClock.now

    /// An expectation cannot change a struct.
    private final class Asked {
        private var allowance: SpeedAllowance

        init(bytesPerSecond: Int, at now: ContinuousClock.Instant) { allowance = SpeedAllowance(bytesPerSecond: bytesPerSecond, at: now) }

        var opens: ContinuousClock.Instant { allowance.opens }
        func take(_ count: Int, at now: ContinuousClock.Instant) -> Bool { allowance.take(count, at: now) }
    }

    @Test func `a burst is a quarter of a second's bytes, and then each piece waits for the last one's time`() {
        let allowance = Asked(bytesPerSecond: 1_000_000, at: start)
        var granted = 0
        while allowance.take(1000, at: start) { granted += 1000 }
        // The last piece may be a small one, so less than a large piece is missing.
        #expect(250_000 - SpeedAllowance.piece < granted && granted <= 250_000)
        let next = allowance.opens
        #expect(!allowance.take(1000, at: start) && allowance.opens == next)
        #expect(allowance.take(1000, at: next))
        #expect(!allowance.take(1000, at: next))
        #expect(next + .milliseconds(1) <= allowance.opens && allowance.opens <= next + .microseconds(1001))
    }

    @Test func `under a small limit one whole piece is granted, and the next one when its time is over`() {
        let allowance = Asked(bytesPerSecond: 1024, at: start)
        #expect(allowance.take(SpeedAllowance.piece, at: start))
        #expect(!allowance.take(1, at: start + .seconds(15)))
        let next = allowance.opens
        #expect(start + .seconds(16) <= next && next <= start + .milliseconds(16_001))
        #expect(allowance.take(1, at: next))
    }

    @Test func `time without traffic is worth one burst, however long it was`() {
        let allowance = Asked(bytesPerSecond: 1 << 20, at: start)
        let later = start + .seconds(86_400)
        var granted = 0
        while allowance.take(SpeedAllowance.piece, at: later) { granted += SpeedAllowance.piece }
        #expect((1 << 18) - SpeedAllowance.piece <= granted && granted <= 1 << 18)
    }

    @Test func `no more than the limit and one burst is granted in any span of time, whatever is asked for when`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededBytes(seed: seed)
        for _ in 0..<200 {
            // Speeds of all magnitudes.
            let speed = 1024 + Int(random.next() % (1 << (random.next() % 41)))
            let burst = max(Double(SpeedAllowance.piece), Double(speed) / 4)
            let allowance = Asked(bytesPerSecond: speed, at: start)
            var now = start
            var grants: [(time: Duration, bytes: Int)] = []
            var refusals = 0
            for _ in 0..<200 {
                let count = 1 + Int(random.next() % UInt64(SpeedAllowance.piece))
                if allowance.take(count, at: now) {
                    grants.append((now - start, count))
                } else {
                    let until = allowance.opens
                    refusals += 1
                    #expect(now < until, "seed \(seed)")
                    // At that time, before it, or long after it.
                    let share = [1.0, 1.0, 0.5, 3.0][Int(random.next() % 4)]
                    now = share == 1 ? until : now + (until - now) * share
                }
            }
            #expect(grants.count > 20, "seed \(seed)")
            for first in grants.indices {
                var sum = 0
                for last in first..<grants.count {
                    sum += grants[last].bytes
                    let span = (grants[last].time - grants[first].time) / .seconds(1)
                    let most = burst + Double(speed) * span
                    // For the rounding of the test's own numbers.
                    guard Double(sum) > most * 1.000_000_001 + 0.001 else { continue }
                    Issue.record("\(sum) bytes in \(span) s at \(speed), seed \(seed)")
                    return
                }
            }
        }
    }
}
