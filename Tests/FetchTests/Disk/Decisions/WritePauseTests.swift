import Testing

@testable import GannetFetch

struct WritePauseTests {
    private static let start = ContinuousClock.now

    /// An object, because `#expect` cannot call mutating functions.
    private final class Tried {
        private var pause: WritePause

        init(longest: Duration) { pause = WritePause(longest: longest) }
        func isOver(at now: ContinuousClock.Instant) -> Bool { pause.isOver(at: now) }
        func begin(at now: ContinuousClock.Instant) -> Bool { pause.begin(at: now) }
        func failed(at now: ContinuousClock.Instant) { pause.failed(at: now) }
        func succeeded() { pause.succeeded() }
    }

    @Test func `after three failures in a row there is a pause of a second, which doubles up to the longest pause`() {
        let pause = Tried(longest: .seconds(10))
        var now = Self.start
        for _ in 0..<3 {
            #expect(pause.begin(at: now))
            pause.failed(at: now)
        }
        for length in [1, 2, 4, 8, 10, 10] {
            #expect(!pause.begin(at: now))
            now += .seconds(length) - .milliseconds(1)
            #expect(!pause.begin(at: now), "\(length)")
            now += .milliseconds(1)
            #expect(pause.begin(at: now), "\(length)")
            // One attempt is enough.
            #expect(!pause.begin(at: now))
            pause.failed(at: now)
        }
    }

    @Test func `getting ready is no attempt`() {
        let pause = Tried(longest: .seconds(60))
        #expect(pause.isOver(at: Self.start))
        for _ in 0..<3 { pause.failed(at: Self.start) }
        #expect(!pause.isOver(at: Self.start))
        for _ in 0..<3 { #expect(pause.isOver(at: Self.start + .seconds(1))) }
        #expect(pause.begin(at: Self.start + .seconds(1)))
        #expect(!pause.isOver(at: Self.start + .seconds(1)))
    }

    @Test func `a success ends it all`() {
        let pause = Tried(longest: .seconds(60))
        for _ in 0..<5 {
            for _ in 0..<2 { pause.failed(at: Self.start) }
            #expect(pause.begin(at: Self.start))
            pause.succeeded()
        }
        for _ in 0..<3 { pause.failed(at: Self.start) }
        #expect(!pause.begin(at: Self.start))
        pause.succeeded()
        #expect(pause.begin(at: Self.start))
    }

    @Test func `a hundred that fail together pause no longer than three`() {
        let pause = Tried(longest: .seconds(60))
        for _ in 0..<100 { pause.failed(at: Self.start) }
        #expect(!pause.begin(at: Self.start))
        #expect(pause.begin(at: Self.start + .seconds(1)))
    }

    @Test func `an attempt without an outcome is followed by another`() {
        let pause = Tried(longest: .seconds(60))
        for _ in 0..<3 { pause.failed(at: Self.start) }
        #expect(pause.begin(at: Self.start + .seconds(1)))
        #expect(!pause.begin(at: Self.start + .milliseconds(1999)))
        #expect(pause.begin(at: Self.start + .seconds(2)))
    }
}
