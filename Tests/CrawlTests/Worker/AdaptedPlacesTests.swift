import GannetQueue
import GannetTestKit
import Testing

@testable import Crawl

/// How many requests a worker has in flight that finds the number itself.
@Suite struct AdaptedPlacesTests {
    private var places = Places(most: 1024, adapts: true)
    private var now = ContinuousClock.now

    private mutating func look(used: Int? = nil, lag: Duration = .zero, times: Int = 1) {
        for _ in 0..<times {
            places.look(used: used ?? places.count, lag: lag, at: now)
            now += Places.lookEvery
        }
    }

    private let small = Places.littleLag - .microseconds(1)
    private let large = Places.muchLag + .microseconds(1)

    @Test mutating func `places double while all are in use and the process keeps up`() {
        #expect(places.count == 64)
        look()
        #expect(places.count == 128)
        look(lag: small, times: 2)
        #expect(places.count == 512)
        look(times: 3)
        #expect(places.count == 1024)
    }

    @Test mutating func `a worker that does not use its places gets no more of them`() {
        look(used: 63, times: 10)
        #expect(places.count == 64)
    }

    @Test mutating func `a process that lags has fewer places, and then more by small steps`() {
        look(times: 3)
        #expect(places.count == 512)
        look(lag: large)
        #expect(places.count == 448)
        // Between much and little it stays.
        look(lag: Places.muchLag)
        look(lag: Places.littleLag)
        #expect(places.count == 448)
        look(lag: small)
        #expect(places.count == 504)
        look(lag: .seconds(1), times: 100)
        #expect(places.count == 64)
        look(times: 100)
        #expect(places.count == 1024)
    }

    @Test mutating func `requests have time to show what they cost`() {
        look()
        places.look(used: 1000, lag: .zero, at: now - Places.lookEvery / 2)
        #expect(places.count == 128)
        #expect(places.lookDue(used: 128) == now)
        #expect(places.lookDue(used: 127) == nil)
    }

    @Test func `a given number stays`() {
        var places = Places(most: 16, adapts: false)
        places.look(used: 16, lag: .seconds(1), at: now)
        places.look(used: 16, lag: .zero, at: now + .seconds(1))
        #expect(places.count == 16 && places.lookDue(used: 16) == nil)
    }

    @Test func `few places are never exceeded`() {
        var places = Places(most: 20, adapts: true)
        #expect(places.count == 20)
        places.look(used: 20, lag: .zero, at: now)
        #expect(places.count == 20 && places.lookDue(used: 20) == nil)
        places.look(used: 20, lag: .seconds(1), at: now + .seconds(1))
        #expect(places.count == 20)
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
}
