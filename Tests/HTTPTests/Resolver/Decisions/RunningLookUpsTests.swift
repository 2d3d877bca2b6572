import Testing

@testable import GannetHTTP

struct RunningLookUpsTests {
    private let start = ContinuousClock.now

    /// An expectation cannot change a struct.
    private final class Running {
        private var running: RunningLookUps

        init(maximum: Int = 1000, fresh: Int = 1000, freshness: Duration = .seconds(1)) {
            running = RunningLookUps(maximum: maximum, maximumFresh: fresh, freshness: freshness)
        }

        var count: Int { running.count }
        var underWay: Int { running.underWayCount }
        var oldest: ContinuousClock.Instant? { running.oldest?.start }
        var nextRoom: ContinuousClock.Instant? { running.nextRoom }

        func join(_ name: String, id: UInt64) { running.join(name, id: id, at: .now) }
        func end(_ entry: RunningLookUps.Entry) -> [UInt64] { running.end(entry) }

        func begin(at now: ContinuousClock.Instant) -> RunningLookUps.Entry? {
            running.begin(at: now) { LookUp(candidates: [$0], servers: 1, withIPv6: false) }
        }
    }

    @Test func `names are begun in the order they came, each once`() throws {
        let running = Running()
        for (id, name) in ["a", "b", "a", "c"].enumerated() { running.join(name, id: UInt64(id)) }
        let first = try #require(running.begin(at: start))
        #expect([first.name, running.begin(at: start)?.name, running.begin(at: start)?.name] == ["a", "b", "c"])
        #expect(running.begin(at: start) == nil)
        #expect(running.end(first) == [0, 2])
        #expect(first.lookUp == nil)
        #expect(running.count == 2 && running.underWay == 2)
    }

    @Test func `the oldest is known after others have ended`() throws {
        let running = Running()
        let entries = try (0..<10).map { number in
            running.join("n\(number)", id: UInt64(number))
            return try #require(running.begin(at: start + .seconds(number)))
        }
        #expect(running.oldest == start)
        for entry in entries[..<4] { _ = running.end(entry) }
        #expect(running.oldest == start + .seconds(4))
        for entry in entries[4...] { _ = running.end(entry) }
        #expect(running.oldest == nil)
    }

    @Test func `an id that asks for another name leaves the look-up before`() {
        let running = Running()
        running.join("a", id: 1)
        running.join("b", id: 1)
        #expect(running.count == 1)
        #expect(running.begin(at: start)?.name == "b")
    }

    @Test func `an old look-up leaves its place to the next`() throws {
        let running = Running(maximum: 3, fresh: 2)
        for id in 1...4 as ClosedRange<UInt64> { running.join("n\(id)", id: id) }
        let first = try #require(running.begin(at: start))
        #expect(running.begin(at: start + .milliseconds(500)) != nil)
        #expect(running.begin(at: start + .milliseconds(900)) == nil)
        #expect(running.nextRoom == start + .seconds(1))
        #expect(running.begin(at: start + .seconds(1)) != nil)
        // All places are taken, however old.
        #expect(running.begin(at: start + .seconds(9)) == nil)
        #expect(running.nextRoom == nil)
        _ = running.end(first)
        #expect(running.begin(at: start + .seconds(9)) != nil)
    }

    @Test func `a look-up that ends makes room at once`() throws {
        let running = Running(maximum: 3, fresh: 1)
        for id in 1...1000 as ClosedRange<UInt64> { running.join("n\(id)", id: id) }
        for _ in 1...1000 {
            let entry = try #require(running.begin(at: start))
            #expect(running.begin(at: start) == nil)
            _ = running.end(entry)
        }
        #expect(running.underWay == 0)
        #expect(running.nextRoom == nil)
    }

    @Test func `a queue skips ended look-ups, and is swept of them`() {
        var queue = DueQueue<UInt64>()
        var alive: Set<UInt64> = []
        for serial in 0..<100_000 as Range<UInt64> {
            alive = [serial]
            queue.append((item: serial, due: start + .milliseconds(Int(serial))), living: 1) { [alive] in alive.contains($0.item) }
        }
        #expect(queue.length < 100)
        queue.skipEnded { alive.contains($0.item) }
        #expect(queue.first?.due == start + .milliseconds(99_999))
        #expect(queue.popDue(at: start) == nil)
        #expect(queue.popDue(at: start + .seconds(100)) == 99_999)
        #expect(queue.first?.due == nil)
    }
}
