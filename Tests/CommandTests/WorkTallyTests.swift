import GannetBase
import GannetHTTP
import Testing

@testable import Crawl
@testable import GannetCommand
@testable import GannetQueue

@Suite struct WorkTallyTests {
    private static func tally(of total: Int? = nil) -> WorkTally {
        let console = Console(.quiet)
        var count: (@Sendable () -> Int)?
        if let total { count = { total } }
        return WorkTally(console, RedisWatch(console, own: nil), of: count)
    }

    @Test func `the progress of a list counts only this command's jobs, not the queue's`() {
        let tally = Self.tally(of: 5000)
        tally.note(.fetched(JobLabel(url: "http://h/"), bytes: 10, file: "f"))
        tally.note(.progress(accepted: 9, ended: 9))
        let snapshot = tally.snapshot(at: .now)
        #expect(snapshot.whole == .init(total: 5000, ended: 1))
        #expect(snapshot.counts.count(of: .fetched) == 1 && snapshot.counts.bytes == 10)
    }

    @Test func `a worker's progress is a part of its queue's`() {
        let tally = Self.tally()
        #expect(tally.snapshot(at: .now).whole == nil)
        tally.note(.progress(accepted: 90, ended: 30))
        #expect(tally.snapshot(at: .now).whole == .init(total: 60, ended: 0, name: "queue", endedBefore: 30))
        #expect(tally.snapshot(at: .now + .seconds(100)).wholeAge.map { $0 > .seconds(99) } == true)
        #expect(tally.summary.hasPrefix("This worker: 0 fetched, 0 failed, 0 B in "))
    }

    @Test func `a queue's progress has all jobs that its worker has ended, or says since when it counts`() {
        let tally = Self.tally()
        func end(_ count: Int) { for _ in 0..<count { tally.note(.fetched(JobLabel(url: "u"), bytes: 1, file: nil)) } }
        func line(_ accepted: Int, _ ended: Int) -> String {
            tally.note(.progress(accepted: accepted, ended: ended))
            return tally.snapshot(at: .now).line
        }
        // The first look may come late.
        end(49)
        #expect(line(170, 149).contains("queue: 49 of 70 had ended"))
        end(21)
        #expect(line(170, 170).contains("this worker: 70 fetched") && line(170, 170).contains("queue: 70 of 70 had ended"))
        end(5)
        let later = line(180, 175)
        #expect(later.contains("this worker: 75 fetched") && later.contains("queue since it was last empty: 5 of 10 had ended"), "\(later)")
        let bar = tally.snapshot(at: .now).lines(columns: 200, TerminalStyle([:]))[0].plain
        #expect(bar.contains("queue 5 of 10") && bar.contains("  5 by this worker"), "\(bar)")
    }

    @Test func `a percentage belongs to the work at hand, not to all that the queue ever had`() {
        let tally = Self.tally()
        func whole(_ accepted: Int, _ ended: Int) -> String? {
            tally.note(.progress(accepted: accepted, ended: ended))
            return tally.snapshot(at: .now).whole.map { "\($0.ended) of \($0.total)" }
        }
        #expect(whole(1000, 1000) == "0 of 0")
        #expect(whole(1020, 1000) == "0 of 20")
        #expect(whole(1020, 1015) == "15 of 20")
        #expect(whole(1020, 1020) == "20 of 20", "it stays finished until there is more")
        #expect(whole(1030, 1021) == "1 of 10")
        // Dead jobs that are retried have not ended any more.
        #expect(whole(1030, 1011) == "0 of 19")
        let facts = tally.snapshot(at: .now).facts
        #expect(facts.map { "\($0.key) \($0.value.text)" }.suffix(2) == ["ended 1011", "total 1030"], "logs keep the queue's totals")
    }

    @Test func `while the proxy or Redis is missing, progress says so and estimates no time`() {
        let console = Console(.quiet)
        let watch = RedisWatch(console, own: nil)
        let tally = WorkTally(console, watch, of: { 100 })
        let start = ContinuousClock.now
        _ = tally.snapshot(at: start)
        tally.note(.fetched(JobLabel(url: "u"), bytes: 1, file: "f"))
        #expect(tally.snapshot(at: start + .seconds(1)).remaining != nil)
        let proxy = FetchError(kind: .proxy, url: "u", detail: "Connection refused")
        tally.note(.putOff(JobLabel(url: "u"), proxy, pause: .seconds(5)))
        #expect(tally.snapshot(at: start + .seconds(2)).wait()?.sentence == "99 wait for the proxy")
        let bounded = WorkTally(console, watch, of: { 100 }, patience: .seconds(3600))
        bounded.note(.putOff(JobLabel(url: "u"), proxy, pause: .seconds(5)))
        let told = bounded.snapshot(at: .now + .seconds(10)).wait()?.sentence ?? ""
        #expect(told.hasPrefix("100 wait for the proxy; the first is given up in 59 min "), "\(told)")
        #expect(tally.snapshot(at: start + .seconds(60)).missing == nil)
        tally.note(.fetched(JobLabel(url: "u"), bytes: 1, file: "f"))
        #expect(tally.snapshot(at: start + .seconds(3)).missing == nil)
        watch.note(.began(sentence: "Redis: away"))
        let away = tally.snapshot(at: start + .seconds(4))
        #expect(away.remaining == nil && away.wait()?.sentence == "waiting for Redis")
        watch.note(.ended)
        #expect(!tally.snapshot(at: start + .seconds(5)).isRedisAway)
        watch.note(.began(sentence: "Redis: away; it has partition 1 of 2", isPart: true))
        let partly = tally.snapshot(at: start + .seconds(6))
        #expect(partly.remaining == nil && partly.wait()?.sentence == "a part of Redis is away" && !watch.isAway)
    }

    @Test func `a worker that stands still is known as such, until it goes on`() {
        let tally = Self.tally()
        #expect(tally.standstill == nil)
        tally.note(.standstill(4096))
        #expect(tally.standstill == 4096)
        tally.note(.standstill(nil))
        #expect(tally.standstill == nil)
    }

    @Test func `a reason for the number of requests at once is told once a minute`() {
        let tally = Self.tally()
        let start = ContinuousClock.now
        func mayTell(_ bound: PlacesBound, after time: Duration) -> Bool {
            tally.state.withLock { $0.limit.mayTell(bound.rawValue, at: start + time) }
        }
        #expect(mayTell(.network, after: .zero) && mayTell(.memory, after: .zero))
        #expect(!mayTell(.network, after: .seconds(59)))
        #expect(mayTell(.network, after: .seconds(60)) && !mayTell(.network, after: .seconds(61)))
    }

    @Test func `failures are counted by class, the most frequent first`() {
        let tally = Self.tally()
        for errorClass in ["dns", "http-404", "timeout", "http-404"] {
            tally.note(.failed(JobLabel(url: "u"), sentence: "s", errorClass: errorClass))
        }
        tally.note(.givenUp(3))
        let snapshot = tally.snapshot(at: .now)
        #expect(snapshot.counts.failed == 7)
        #expect(snapshot.counts.failuresByClass == "unfetched 3, http-404 2, dns 1, timeout 1")
        for number in 0..<200 { tally.note(.failed(JobLabel(url: "u"), sentence: "s", errorClass: "class \(number)")) }
        #expect(tally.snapshot(at: .now).counts.failures.counts.count == 100)
    }

    @Test func `a count that grows in many small steps is reported once a minute, as a total, and at the end`() {
        let tally = Self.tally()
        let start = ContinuousClock.now
        func add(_ count: Int, after seconds: Int) -> Int? { tally.state.withLock { $0.giveUp(count, at: start + .seconds(seconds)) } }
        func rest() -> Int? { tally.state.withLock { $0.untoldGivenUp() } }
        #expect(rest() == nil)
        #expect(add(64, after: 0) == 64)
        for second in 1..<60 { #expect(add(10, after: second) == nil) }
        #expect(add(6, after: 60) == 660)
        #expect(rest() == nil)
        #expect(add(1, after: 61) == nil)
        #expect(rest() == 661)
        #expect(rest() == nil)
    }

    @Test func `a queue whose number of accepted jobs falls has lost jobs, and each fall counts once`() {
        let tally = Self.tally()
        func lost(_ accepted: Int, _ ended: Int = 0) -> Int? {
            tally.state.withLock { $0.note(accepted: accepted, ended: ended, QueueWaits(), at: .now) }
        }
        #expect(lost(0) == nil && lost(20_000, 20_000) == nil)
        #expect(lost(20_000, 20_000) == nil)
        #expect(lost(5) == 20_000)
        #expect(lost(5) == nil && lost(9, 9) == nil)
        #expect(tally.losses == 1)
    }

    @Test func `slow hosts are reported when they have held the places for some seconds while jobs wait`() {
        var slow = HostLoad(name: "slow")
        (slow.running, slow.longest) = (60, .seconds(20))
        var quick = HostLoad(name: "quick")
        (quick.running, quick.longest, quick.average) = (4, .seconds(1), .milliseconds(100))
        let held = ActivitySnapshot(interval: .seconds(5), hosts: [slow, quick])
        let start = ContinuousClock.now
        var watch = PlacesWatch(places: 64)
        #expect(watch.look(at: held, waiting: 100, now: start) == nil)
        #expect(watch.look(at: held, waiting: 100, now: start + .seconds(4)) == nil)
        #expect(watch.look(at: held, waiting: 100, now: start + .seconds(5))?.held == 60)
        // A moment without one begins it anew.
        #expect(watch.look(at: held, waiting: 63, now: start + .seconds(6)) == nil)
        #expect(watch.look(at: held, waiting: 64, now: start + .seconds(7)) == nil)
        #expect(watch.look(at: held, waiting: 64, now: start + .seconds(12))?.held == 60)
        slow.running = 50
        let fewer = ActivitySnapshot(interval: .seconds(5), hosts: [slow, quick])
        #expect(watch.look(at: fewer, waiting: 64, now: start + .seconds(13)) == nil)
        var now = ProgressSnapshot()
        #expect(now.advice == nil)
        now.heldPlaces = (60, 64)
        #expect(now.line.hasSuffix("; 60 of 64 places are held by slow hosts; a higher --concurrency would help"))
    }

    @Test func `the time left follows from the speed of the last seconds`() {
        let tally = Self.tally(of: 100)
        let start = ContinuousClock.now
        _ = tally.snapshot(at: start)
        for _ in 0..<10 { tally.note(.fetched(JobLabel(url: "u"), bytes: 100, file: "f")) }
        let snapshot = tally.snapshot(at: start + .seconds(2))
        #expect(snapshot.endedPerSecond == 5 && snapshot.bytesPerSecond == 500)
        #expect(snapshot.remaining == .seconds(18))
    }
}
