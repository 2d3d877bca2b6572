import Testing

@testable import GannetHTTP

struct RunningLookUpsTests {
    private let start = ContinuousClock.now

    private func lookUp() -> LookUp { LookUp(candidates: ["a"], servers: 1, withIPv6: false) }

    @Test func `names are begun in the order they came, each once`() {
        var running = RunningLookUps()
        for (id, name) in ["a", "b", "a", "c"].enumerated() { running.join(name, id: UInt64(id)) }
        var names: [String] = []
        while running.isWaiting, let (serial, name) = running.nextWaiting() {
            names.append(name)
            running.start(serial, lookUp(), at: start)
        }
        #expect(names == ["a", "b", "c"])
        let ended = running.end(1)
        #expect(ended?.ids == [0, 2])
        let again = running.end(1)
        #expect(again == nil)
        #expect(running.count == 2)
    }

    @Test func `the oldest is known after others have ended`() {
        var running = RunningLookUps()
        for number in 0..<10 as Range<UInt64> {
            running.join("n\(number)", id: number)
            running.start(running.nextWaiting()!.serial, lookUp(), at: start + .seconds(Int(number)))
        }
        #expect(running.oldestStart() == start)
        for serial in 1...4 as ClosedRange<UInt64> { _ = running.end(serial) }
        #expect(running.oldestStart() == start + .seconds(4))
        for serial in 5...10 as ClosedRange<UInt64> { _ = running.end(serial) }
        #expect(running.oldestStart() == nil)
    }

    @Test func `an id that asks for another name leaves the look-up before`() {
        var running = RunningLookUps()
        running.join("a", id: 1)
        running.join("b", id: 1)
        let first = running.nextWaiting()
        #expect(first?.name == "b")
        #expect(running.count == 1)
    }

    @Test func `a queue skips ended look-ups, and is swept of them`() {
        var queue = DueQueue()
        var alive: Set<UInt64> = []
        for serial in 0..<100_000 as Range<UInt64> {
            alive = [serial]
            queue.append((serial, start + .milliseconds(Int(serial))), living: 1) { [alive] in alive.contains($0.serial) }
        }
        #expect(queue.length < 100)
        queue.skipEnded { alive.contains($0.serial) }
        #expect(queue.first?.due == start + .milliseconds(99_999))
        #expect(queue.popDue(at: start) == nil)
        #expect(queue.popDue(at: start + .seconds(100)) == 99_999)
        #expect(queue.first?.due == nil)
    }
}
