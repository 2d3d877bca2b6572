import Testing

@testable import Crawl
@testable import GannetCommand
@testable import GannetQueue

@Suite struct ProgressLinesTests {
    private static let style = TerminalStyle(hasColor: false, hasUnicode: true)

    private static func counts(fetched: Int, bytes: Int, _ failures: [String: Int] = [:]) -> WorkCounts {
        var counts = WorkCounts()
        for number in 1...fetched { counts.note(.fetched(JobLabel(url: "u"), bytes: number == 1 ? bytes : 0, file: nil)) }
        for (errorClass, count) in failures {
            for _ in 0..<count { counts.note(.failed(JobLabel(url: "u"), sentence: "s", errorClass: errorClass)) }
        }
        return counts
    }

    private static var snapshot: ProgressSnapshot {
        var now = ProgressSnapshot()
        now.counts = counts(fetched: 4309, bytes: 34_000_000, ["http-404": 8, "dns": 3, "timeout": 1])
        now.elapsed = .seconds(10)
        now.whole = .init(total: 10_000, ended: 4321)
        now.endedPerSecond = 812.4
        now.bytesPerSecond = 3_400_000
        now.remaining = .seconds(7)
        var slow = HostLoad(name: "slow.example")
        slow.running = 8
        slow.longest = .seconds(19.2)
        var quick = HostLoad(name: "quick.example")
        quick.average = .milliseconds(20)
        now.slowest = [slow, quick]
        return now
    }

    @Test func `a bar has the jobs done and to do, the speed, the failures and the slow hosts`() {
        let lines = Self.snapshot.lines(columns: 80, Self.style).map(\.plain)
        #expect(
            lines == [
                "[████████████░░░░░░░░░░░░░░░░░]   43%  4321 of 10000  812/s  3.4 MB/s  7 s left",
                "12 failed: http-404 8, dns 3, timeout 1",
                "slowest: slow.example 19.2 s (8 in flight)",
            ])
    }

    @Test func `a run that is held up says last how to end it, and another does not`() {
        var now = Self.snapshot
        #expect(now.lines(columns: 80, Self.style, offer: "f ends it").map(\.plain).last == "f ends it")
        now.slowest = []
        #expect(now.lines(columns: 80, Self.style, offer: "f ends it").count == 2)
    }

    @Test(arguments: 1...250)
    func `no line is wider than the terminal, and the first has the number of jobs done if there is room for it`(columns: Int) {
        var now = Self.snapshot
        now.slowest[0] = HostLoad(name: String(repeating: "long.", count: 50))
        now.slowest[0].longest = .seconds(5)
        for style in [Self.style, TerminalStyle(hasColor: true, hasUnicode: false)] {
            let lines = now.lines(columns: columns, style)
            #expect(lines.count == 3)
            #expect(lines.allSatisfy { $0.width < max(2, columns) }, "\(lines.map(\.plain))")
            if columns > 24 { #expect(lines[0].plain.contains("4321 of 10000")) }
        }
    }

    @Test func `a bar names the hosts that do not answer, why, and when they are asked again`() {
        var now = Self.snapshot
        now.whole = .init(total: 10, ended: 5)
        now.remaining = nil
        now.waits = QueueWaits(
            held: 4, hosts: 4, delayed: 1,
            silent: [
                WaitingHost(name: "a.example", errorClass: "connect", failures: 2, rest: .seconds(8)),
                WaitingHost(name: "b.example", errorClass: "timeout", failures: 1),
                WaitingHost(name: "c.example", failures: 3, isGivenUp: true),
                WaitingHost(name: "d.example", errorClass: "http-503", rest: .seconds(40), since: .seconds(3000)),
            ])
        let hosts = [
            "c.example: no answer, asked 3 times, given up", "a.example: no connection, asked 2 times, next try in 8.0 s",
            "b.example: no answer in time, asked now",
        ]
        func told(_ end: [String], _ jobs: String = "4 wait for 4 hosts, 1 for its next attempt") -> [String] {
            ["3 hosts do not answer, 1 host asked for a rest"] + hosts.map { "  " + $0 } + ["  1 more"] + end + [jobs]
        }
        #expect(now.wait()?.lines == told([]))
        #expect(
            now.wait()?.sentence
                == "3 hosts do not answer, 1 host asked for a rest (\(hosts.joined(separator: "; ")); 1 more); 4 wait for 4 hosts, 1 for its next attempt"
        )
        // Nobody knows since when these hosts are silent: their time begins now.
        now.waits.patience = WaitPatience(silence: .seconds(900), rests: .seconds(3600))
        #expect(now.wait()?.lines == told(["given up in 15 min 0 s at the latest"]))
        now.waits.patience = WaitPatience(silence: .seconds(60), rests: .seconds(3600))
        #expect(now.wait()?.lines == told(["given up in 10 min 0 s at the latest"]))
        #expect(now.wait()?.sentence.contains("; 1 more), given up in 10 min 0 s at the latest; 4 wait for") == true)
        let screen = now.lines(columns: 200, Self.style).map(\.plain)
        #expect(told(["given up in 10 min 0 s at the latest"]).allSatisfy(screen.contains), "\(screen)")
        #expect(!screen[0].contains(" left"), "the speed so far says nothing about these")
        #expect(now.wait(goesOn: false)?.lines[2] == "  a.example: no connection, asked 2 times")
        #expect(now.wait(goesOn: false)?.lines[0] == "3 hosts do not answer, 1 host asked for a rest", "nobody gives them up")
        now.waits.patience = WaitPatience(silence: .zero, rests: .seconds(3600))
        #expect(now.wait()?.lines == told([]), "a host may be waited for for ever")
        now.waits.patience = WaitPatience(silence: .seconds(60), rests: .seconds(3600))
        now.waits.hosts = 5
        #expect(now.wait()?.lines == told([], "4 wait for 4 hosts, 1 for its next attempt"), "nobody has looked at the fifth host")
    }

    @Test func `a bar says which host asks for time between requests, once its jobs take longer than all others`() {
        var now = Self.snapshot
        now.whole = .init(total: 1000, ended: 500)
        let host = WaitingHost(name: "a.example", rest: .seconds(4), pace: .seconds(10), jobs: 30)
        now.waits = QueueWaits(held: 30, hosts: 1, silent: [host])
        let words = "a.example: asks for 10.0 s between requests (Crawl-delay or slow answers), 30 URLs wait"
        now.remaining = .seconds(301)
        #expect(now.wait()?.sentence == nil, "the others take longer")
        now.remaining = .seconds(299)
        #expect(
            now.wait()?.lines
                == [
                    "1 host asks for time between requests", "  \(words), for 5 min 0 s at least",
                    "30 wait for 1 host, 470 under way or in line",
                ])
        #expect(now.line.contains("(\(words), for 5 min 0 s at least); 30 wait for 1 host"))
        now.whole = .init(total: 1000, ended: 970)
        #expect(now.wait(goesOn: false)?.lines == ["1 host asks for time between requests", "  \(words)", "30 wait for 1 host"])
        let others = (0..<9).map { WaitingHost(name: "\($0).example", errorClass: "connect", failures: 1) }
        now.waits = QueueWaits(held: 39, hosts: 10, silent: others + [host])
        #expect(now.wait()?.lines[0] == "8 hosts and more do not answer, 1 host asks for time between requests")
    }

    @Test func `a bar without an estimate says what the jobs wait for`() {
        var now = Self.snapshot
        now.whole = .init(total: 10_000, ended: 9000)
        now.waits = QueueWaits(held: 902, hosts: 12, delayed: 30)
        let told = "902 wait for 12 hosts that rest or are busy, 30 for their next attempt, 68 under way or in line"
        #expect(now.lines(columns: 80, Self.style)[2].plain == String(told.prefix(78)) + "…")
        #expect(now.line.contains(", \(told); slowest: "))
        now.waits = QueueWaits(held: 1, hosts: 1)
        #expect(now.wait()?.sentence == nil, "most wait for their turn alone")
        now.whole = .init(total: 10_000, ended: 9999)
        #expect(now.wait()?.sentence == "1 waits for 1 host that rests or is busy")
        // Jobs have ended since somebody looked what they wait for.
        now.whole = .init(total: 20, ended: 12)
        now.waits = QueueWaits(held: 6, hosts: 2, delayed: 5)
        #expect(now.wait()?.sentence == "3 wait for 2 hosts that rest or are busy, 5 for their next attempt")
        now.whole = .init(total: 10_000, ended: 9999)
        now.waits = QueueWaits(delayed: 1)
        #expect(now.wait()?.sentence == "1 waits for its next attempt")
        #expect(now.interrupted.hasSuffix("; 1 waits for its next attempt"))
        now.waits.patience = WaitPatience(silence: .seconds(900), rests: .seconds(60))
        now.waits.retries = [
            WaitingHost(name: "a.example", errorClass: "http-500", rest: .seconds(8)),
            WaitingHost(name: "b.example", errorClass: "http-503", rest: .seconds(9), since: .seconds(20)),
        ]
        let attempts = ["http-500 at a.example, next in 8.0 s", "http-503 at b.example, next in 9.0 s, given up in 40 s at the latest"]
        #expect(now.wait()?.sentence == "1 waits for its next attempt (\(attempts.joined(separator: "; ")))")
        #expect(now.wait()?.lines == ["1 waits for its next attempt"] + attempts.map { "  " + $0 })
        #expect(
            now.interrupted.hasSuffix("; 1 waits for its next attempt (http-500 at a.example; http-503 at b.example)"))
        now.missing = ("the proxy", nil)
        #expect(now.wait()?.sentence == "1 waits for the proxy")
        now.isRedisAway = true
        #expect(now.wait()?.sentence == "waiting for Redis")
        now.whole = .init(total: 10_000, ended: 10_000)
        #expect(now.wait()?.sentence == nil)
    }

    @Test func `a bar says that other workers fetch what is left, and until when, once nothing else is left`() {
        var now = Self.snapshot
        now.whole = .init(total: 10, ended: 7)
        now.waits.parked = 2
        now.waits.parkedUntil = 5000
        #expect(now.wait()?.sentence == nil, "one is under way")
        now.whole = .init(total: 10, ended: 8)
        #expect(now.wait()?.sentence == "2 URLs are being fetched by another worker (until at most \(Amounts.clock(5000)))")
        #expect(Amounts.clock(5000).hasSuffix(":05") && Amounts.clock(5000).utf8.count == 8)
        now.whole = .init(total: 10, ended: 9)
        #expect(now.wait()?.lines == ["1 URL is being fetched by another worker (until at most \(Amounts.clock(5000)))"])
    }

    @Test func `a bar is full when all is done and not before, and empty where there is nothing to do`() {
        for (ended, total, bar) in [
            (9999, 10_000, "[█████████░]"), (10_000, 10_000, "[██████████]"), (0, 0, "[░░░░░░░░░░]"), (7, 5, "[██████████]"),
        ] {
            #expect(Self.style.bar(ProgressSnapshot.Whole(total: total, ended: ended).share, width: 10).plain == bar)
        }
    }

    @Test func `without a total there is no bar, and a bar of the queue's total says so`() {
        var now = ProgressSnapshot()
        now.counts = Self.counts(fetched: 3, bytes: 10)
        now.elapsed = .seconds(2)
        #expect(now.lines(columns: 80, Self.style).map(\.plain) == ["3 fetched  10 B  2.0 s"])
        now.whole = .init(total: 50, ended: 25, name: "queue")
        #expect(
            now.lines(columns: 60, Self.style).map(\.plain) == [
                "[█████░░░░░░]   50%  queue 25 of 50  3 by this worker  10 B"
            ])
    }

    @Test func `numbers of the queue are dated, and numbers of this worker are named as such`() {
        var now = ProgressSnapshot()
        (now.counts, now.elapsed, now.remaining) = (Self.counts(fetched: 192, bytes: 10), .seconds(10), .seconds(3))
        now.whole = .init(total: 200, ended: 176, name: "queue")
        now.wholeAge = .seconds(2.4)
        #expect(
            now.line
                == "this worker: 192 fetched, 0 failed, 10 B in 10.0 s; queue: 176 of 200 had ended 2 s ago, 3 s left")
        #expect(
            now.lines(columns: 80, Self.style).map(\.plain)[0].hasSuffix(
                "  queue 176 of 200 (2 s ago)  192 by this worker  10 B  3 s left"))
        now.whole = nil
        #expect(now.line == "192 fetched, 0 failed, 10 B in 10.0 s, 3 s left")
    }

    @Test func `a terminal that cannot draw gets the same figures as a line of text`() {
        #expect(
            Self.snapshot.line
                == "4321 of 10000 different URLs done, 4309 fetched, 12 failed (http-404 8, dns 3, timeout 1), 34.0 MB in 10.0 s, 812/s, 3.4 MB/s, "
                + "7 s left; slowest: slow.example 19.2 s (8 in flight)")
    }

    @Test func `the speed is that of the last seconds`() {
        var meter = RateMeter()
        let start = ContinuousClock.now
        meter.note(ended: 0, bytes: 0, at: start)
        #expect(meter.rate == nil)
        // A burst, then a crawl.
        for second in 1...30 {
            meter.note(ended: second <= 10 ? second * 100 : 1000 + second, bytes: second * 10, at: start + .seconds(second))
        }
        #expect(meter.rate?.endedPerSecond == 1)
        #expect(meter.rate?.bytesPerSecond == 10)
    }
}
