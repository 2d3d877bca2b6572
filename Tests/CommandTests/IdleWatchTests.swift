import GannetBase
import Testing

@testable import GannetCommand

@Suite struct IdleWatchTests {
    private let start = ContinuousClock.now

    private func mark(_ seconds: Int) -> FileLock.Mark {
        FileLock.Mark(seconds: seconds, nanoseconds: 0)
    }

    @Test("The time counts from the last use, seen or not")
    func counting() {
        var watch = IdleWatch(idleTime: .seconds(10), now: start, mark: mark(1))
        let looks: [(second: Int, inUse: Bool, mark: Int)] = [
            (9, false, 1), (12, true, 1), (20, false, 1),
            // Someone came and went between two looks.
            (21, false, 2), (30, false, 2), (31, false, 2),
        ]
        let ends = looks.map { watch.look(now: start + .seconds($0.second), inUse: $0.inUse, mark: mark($0.mark)) }
        #expect(ends == [false, false, false, false, false, true])
    }

    @Test("It looks often enough to be on time, and seldom enough to cost nothing")
    func looking() {
        #expect(IdleWatch(idleTime: .seconds(600), now: start, mark: nil).interval == .seconds(5))
        #expect(IdleWatch(idleTime: .milliseconds(500), now: start, mark: nil).interval == .milliseconds(100))
    }
}
