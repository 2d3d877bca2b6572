import GannetQueue
import GannetTestKit
import Testing

@testable import Crawl

/// How many requests a worker has in flight that finds the number itself.
@Suite struct AdaptedPlacesTests {
    private var places = Places(most: 4096, adapts: true)
    private var now = ContinuousClock.now

    private mutating func look(
        used: Int? = nil, lag: Duration = .zero, ends: RequestEnds = RequestEnds(), memory: MemoryRoom? = nil, times: Int = 1
    ) {
        for _ in 0..<times {
            places.look(used: used ?? places.count, at: now) { Places.Sight(lag: lag, ends: ends, memory: memory) }
            now += Places.lookEvery
        }
    }

    private let small = Places.littleLag - .microseconds(1)
    private let large = Places.muchLag + .microseconds(1)
    private let answers = RequestEnds(reached: 1024)

    @Test mutating func `places double while all are in use and the process keeps up`() {
        #expect(places.count == 64)
        look()
        #expect(places.count == 128 && places.bound == .growing)
        look(lag: small, times: 2)
        #expect(places.count == 512)
        look()
        #expect(places.count == 1024)
    }

    @Test mutating func `more than 1,024 places come only after answers`() {
        look(times: 10)
        #expect(places.count == 1024 && places.bound == .growing)
        look(ends: RequestEnds(reached: 255))
        #expect(places.count == 1024)
        look(ends: RequestEnds(reached: 1))
        #expect(places.count == 2048)
        look(ends: answers)
        #expect(places.count == 4096 && places.lookDue(used: 4096) == nil)
        look()
        #expect(places.count == 4096 && places.bound == .most)
    }

    @Test mutating func `a worker that does not use its places gets no more of them`() {
        look(used: 63, times: 10)
        #expect(places.count == 64 && places.bound == .jobs)
    }

    @Test mutating func `a process that lags has fewer places, and then more by small steps`() {
        look(times: 3)
        #expect(places.count == 512)
        look(lag: large)
        #expect(places.count == 448 && places.bound == .processor)
        // Between much and little it stays.
        look(lag: Places.muchLag)
        look(lag: Places.littleLag)
        #expect(places.count == 448 && places.bound == .processor)
        look(lag: small)
        #expect(places.count == 504)
        look(lag: .seconds(1), times: 100)
        #expect(places.count == 64)
        look(ends: answers, times: 100)
        #expect(places.count == 4096)
    }

    @Test mutating func `requests have time to show what they cost`() {
        look()
        places.look(used: 1000, at: now - Places.lookEvery / 2) { Places.Sight() }
        #expect(places.count == 128)
        #expect(places.lookDue(used: 128) == now)
        #expect(places.lookDue(used: 127) == nil)
    }

    @Test func `a given number stays`() {
        var places = Places(most: 16, adapts: false)
        places.look(used: 16, at: now) { Places.Sight(lag: .seconds(1)) }
        places.look(used: 16, at: now + .seconds(1)) { Places.Sight() }
        #expect(places.count == 16 && places.bound == .given && places.lookDue(used: 16) == nil)
    }

    @Test func `a worker that may open few files says so, and never exceeds its few places`() {
        var places = Places(most: 20, adapts: true)
        #expect(places.count == 20)
        places.look(used: 20, at: now) { Places.Sight() }
        #expect(places.count == 20 && places.bound == .files && places.lookDue(used: 20) == nil)
        places.look(used: 20, at: now + .seconds(1)) { Places.Sight(lag: .seconds(1)) }
        #expect(places.count == 20 && places.bound == .processor)
    }

    @Test func `a machine whose requests all wait wakes for more places, and asks for as many`() throws {
        var bench = MachineBench { ($0.concurrency, $0.adaptsConcurrency) = (100, true) }
        bench.start()
        #expect(bench.underWay?.wanted == 64)
        bench.answer(bench.jobs(64))
        let look = try #require(bench.machine.wakeUp(after: bench.now))
        #expect(look <= bench.now + Places.lookEvery)
        bench.wake(after: Places.lookEvery)
        #expect(bench.underWay?.wanted == 36)
    }

    @Test func `a machine reports once what keeps it from more places`() {
        var bench = MachineBench { ($0.concurrency, $0.adaptsConcurrency) = (100, true) }
        func told(_ actions: MachineActions) -> [PlacesBound] {
            actions.reports.compactMap { if case .places(100, let bound) = $0 { bound } else { nil } }
        }
        bench.start()
        bench.answer(bench.jobs(64))
        #expect(told(bench.wake(after: Places.lookEvery)).isEmpty)
        #expect(told(bench.answer(bench.jobs(36), after: Places.lookEvery)).isEmpty)
        #expect(told(bench.wake(after: Places.lookEvery)) == [.files])
        #expect(told(bench.wake(after: Places.lookEvery)).isEmpty)
    }

    // MARK: Memory

    @Test mutating func `half of the memory bounds the places, and they shrink when little is left`() {
        let machine = MemoryRoom(left: 200 << 20, all: 256 << 20)
        look(memory: machine, times: 10)
        #expect(places.count == 1024)
        look(ends: answers, memory: machine)
        #expect(places.count == 1024 && places.bound == .memory)
        look(memory: MemoryRoom(left: 15 << 20, all: 256 << 20))
        #expect(places.count == 896 && places.bound == .memory)
        // Little, but enough for the requests that are there.
        look(ends: answers, memory: MemoryRoom(left: 17 << 20, all: 256 << 20))
        #expect(places.count == 896 && places.bound == .memory)
        look(ends: answers, memory: MemoryRoom(left: 4 << 30, all: 8 << 30), times: 3)
        #expect(places.count == 4096)
    }

    // MARK: The network

    /// Requests that end within a look: so many of a hundred do not reach their hosts.
    private func ends(failing share: Double) -> RequestEnds { RequestEnds(reached: 100 - share, unconnected: share) }

    @Test(arguments: [12.0, 50]) mutating func `a list with many dead hosts gets all places`(share: Double) {
        look(ends: ends(failing: share), times: 100)
        #expect(places.count == 4096 && places.bound == .most)
    }

    @Test mutating func `places go back to a few where most hosts cannot be connected to, and grow slowly beyond half of what they were`() {
        look(times: 4)
        #expect(places.count == 1024)
        look(ends: ends(failing: 60))
        #expect(places.count == 64 && places.bound == .network)
        // Requests of the time before go on failing.
        look(ends: ends(failing: 100), times: Int(Places.settling / Places.lookEvery) - 1)
        #expect(places.count == 64 && places.bound == .network)
        look(ends: ends(failing: 0), times: 3)
        #expect(places.count == 512 && places.bound == .growing)
        look(ends: ends(failing: 0))
        #expect(places.count == 576)
        look(ends: ends(failing: 0), times: Int(Places.slowStep / Places.lookEvery) - 1)
        #expect(places.count == 576 && places.bound == .network)
        look(ends: ends(failing: 0))
        #expect(places.count == 648)
    }

    @Test mutating func `a worker without a name server keeps few places until one answers`() {
        look(times: 4)
        let nobody = RequestEnds(unnamed: 100)
        look(ends: nobody)
        #expect(places.count == 64 && places.bound == .names)
        look(ends: nobody, times: 1000)
        #expect(places.count == 64 && places.bound == .names)
        look(ends: ends(failing: 0), times: 100)
        #expect(places.count >= 512)
    }

    @Test mutating func `the dead hosts at the end of a list, which use few places, cost no places`() {
        look(times: 4)
        look(used: 500, ends: ends(failing: 100), times: 50)
        #expect(places.count == 1024 && places.bound == .jobs)
    }

    /// The router remembers each request for five seconds after its answer, and carries none for which its table has no room: that one
    /// fails after ten seconds.
    ///
    /// - Returns: The share of the requests that the router carries after the first minute.
    private mutating func share(ofTable room: Int, places fixed: Int? = nil) -> Double {
        let (answer, memory, patience) = (2, 25, 50)
        // By the look at which they end.
        var (entries, good, bad): ([Int: Int], [Int: Int], [Int: Int]) = ([:], [:], [:])
        var (flying, remembered, asked, carried) = (0, 0, 0, 0)
        for step in 0..<6000 {
            remembered -= entries.removeValue(forKey: step) ?? 0
            let (reached, failed) = (good.removeValue(forKey: step) ?? 0, bad.removeValue(forKey: step) ?? 0)
            flying -= reached + failed
            let new = max(0, (fixed ?? places.count) - flying)
            let served = min(new, room - remembered)
            entries[step + answer + memory] = served
            good[step + answer] = served
            bad[step + patience, default: 0] += new - served
            flying += new
            remembered += served
            if step > 300 { (asked, carried) = (asked + new, carried + served) }
            look(used: flying, ends: RequestEnds(reached: Double(reached), unconnected: Double(failed)))
        }
        return Double(carried) / Double(asked)
    }

    @Test(arguments: [300, 900, 2000])
    mutating func `a router with a small table of connections is not asked for much more than it carries`(
        room: Int
    ) {
        #expect(share(ofTable: room) > 0.7)
        #expect(share(ofTable: room, places: 1024) < 0.7)
    }
}
