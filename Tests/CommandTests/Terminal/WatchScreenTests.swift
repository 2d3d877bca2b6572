import Foundation
import Testing

@testable import GannetCommand
@testable import GannetQueue

@Suite struct WatchScreenTests {
    private static let style = TerminalStyle(hasColor: false, hasUnicode: true)

    /// A queue half done by two workers, ten minutes after it began.
    static func status(workers: Int = 2, hosts: Int = 3) -> StatusReport {
        var counts = QueueCounts()
        (counts.enqueued, counts.done, counts.fetched, counts.cached, counts.failed) = (100_000, 48_000, 47_000, 1000, 2000)
        (counts.ready, counts.active, counts.parked, counts.delayed, counts.dead) = (49_800, 128, 12, 60, 2000)
        counts.bytes = 480_000_000
        let now = 10_000_000
        let history = (0..<120).map { index in
            let ago = (120 - index) * 5
            let done = 48_000 - ago * 80 + (index % 12) * 20
            return QueueSample(time: now - ago * 1000, done: done, failed: 2000, bytes: done * 10_000, open: 98_000 - done)
        }
        let names = ["images.example", "slow.example", "archive.example"] + (3..<20).map { "host\($0).example" }
        let seen = (0..<min(hosts, 8)).map { index in
            HostLoad(
                name: names[index], running: 40 - index, longest: .seconds(index == 1 ? 19 : 1), finished: 100 - index * 10,
                failed: index, average: .milliseconds(200 * (index + 1)))
        }
        let beats = (0..<workers).map { index in
            WorkerStatus(
                id: "worker\(index)", heartbeat: .seconds(index),
                record: WorkerRecord(
                    machine: "machine-\(index)", processID: 4000 + index, version: "1.2.3", concurrency: 64, active: 64, isStopping: false,
                    interval: .seconds(5), hosts: seen, hostLimit: 8, age: .seconds(90), ended: 60, partitions: [0],
                    patience: WaitPatience(silence: .seconds(900), rests: .seconds(86_400)), lease: .seconds(30)))
        }
        let overview = QueueOverview(now: now, counts: counts, oldestReady: now - 192_000, samples: history, workers: beats)
        var server = ServerStatus(ping: .milliseconds(0.2))
        (server.version, server.usedMemory) = ("7.0.15", 12_300_000)
        var work = WorkAtHand()
        (work.batches, work.ended, work.total) = (1, 50_000, 100_000)
        return StatusReport(name: "default", report: overview, server: server, work: work)
    }

    private static func lines(_ status: StatusReport, _ columns: Int, _ rows: Int, trouble: String? = nil) -> [String] {
        WatchScreen(status: status, trouble: trouble, size: .init(columns: columns, rows: rows), style: style).lines.map(\.plain)
    }

    @Test func `everything is on a screen of 80 by 24`() {
        let lines = Self.lines(Self.status(), 80, 24)
        #expect(lines.count <= 24)
        #expect(lines[0].hasPrefix("queue default ") && lines[0].hasSuffix("redis 7.0.15, 12.3 MB, 0.2 ms   q quits"))
        #expect(lines[2].contains("50%  50000 of 100000 ended, ") && lines[2].hasSuffix(" left"))
        // The parts of both lines add up to their totals, and these to all that was enqueued.
        #expect(lines[3] == "not ended 50000: ready 49800, active 128, parked 12, delayed 60")
        #expect(lines[4] == "ended 50000: fetched 47000, there already 1000, failed 2000")
        #expect(lines[5] == "oldest waits 3 min 12 s; 0 retried, 0 crashed; 480.0 MB fetched")
        #expect(lines.contains { $0.hasPrefix("ended a second: ") && $0.hasSuffix("last 10 min") })
        #expect(lines.contains { $0.hasPrefix("not ended: 50000 ") })
        #expect(
            lines.contains {
                $0.contains("worker0") && $0.contains("machine-0") && $0.contains("    64      64  ") && $0.hasSuffix("working")
            })
        #expect(lines.contains { $0.hasPrefix("slow.example") && $0.contains("19.0 s") })
    }

    @Test(arguments: [(1, 1), (10, 3), (20, 7), (40, 10), (60, 16), (79, 23), (80, 24), (100, 30), (132, 43), (200, 50), (500, 200)])
    func `the text is never wider or higher than the screen`(columns: Int, rows: Int) {
        for (workers, hosts) in [(0, 0), (1, 0), (2, 3), (50, 8)] {
            let lines = Self.lines(Self.status(workers: workers, hosts: hosts), columns, rows, trouble: "Redis is away.")
            #expect(lines.count <= rows)
            #expect(lines.allSatisfy { $0.count < max(2, columns) })
        }
    }

    @Test func `of many workers some are shown, with hosts below them, and a larger screen shows more`() {
        let status = Self.status(workers: 50, hosts: 8)
        let small = Self.lines(status, 80, 24)
        let large = Self.lines(status, 200, 60)
        func workers(_ lines: [String]) -> Int { lines.count { $0.contains("machine-") } }
        #expect(workers(small) >= 2 && small.contains { $0.contains("images.example") })
        #expect(workers(large) > workers(small))
    }

    @Test func `the screen says why its figures are old, and that no worker is at work`() {
        let lines = Self.lines(Self.status(workers: 0, hosts: 0), 80, 24, trouble: "Redis is away.")
        #expect(lines[1] == "Redis is away.")
        #expect(lines.contains("no worker is at work"))
        #expect(lines[2].hasSuffix("50000 of 100000 ended, no worker is at work; 'gannet work' starts one"))
    }

    @Test func `charts are as wide as the screen, however little of the past is known`() {
        for columns in [40, 79, 199, 499] {
            for past in [1, 59, 61, 700, 2000] {
                let layout = WatchLayout(rows: 30, workers: 1, hosts: 1, columns: columns, past: .seconds(past))
                #expect(abs(layout.step * columns / .seconds(1) - Double(layout.minutes * 60)) < 0.001)
                #expect(layout.minutes == 15 || layout.minutes * 60 >= past)
            }
        }
        let charts = Self.lines(Self.status(), 200, 50).filter { $0.contains("▁") || $0.contains("█") }.dropFirst()
        #expect(!charts.isEmpty && charts.allSatisfy { $0.count == 199 })
    }

    @Test func `when all jobs have ended the bar is full and says finished`() {
        var counts = QueueCounts()
        (counts.enqueued, counts.done, counts.fetched) = (30, 30, 30)
        let overview = QueueOverview(now: 5, counts: counts, oldestReady: nil, samples: [], workers: [])
        let status = StatusReport(name: "run-1", report: overview, server: ServerStatus(ping: .zero))
        let line = Self.lines(status, 80, 24)[2]
        #expect(line.hasSuffix("100%  finished: 30 of 30 ended") && line.contains("█") && !line.contains("░"))
        #expect(status.lines(Self.style).contains("progress  finished"))
    }

    @Test func `a run that has removed its queue is finished, its counts are dated, and its workers work no more`() {
        let last = StatusReport(name: "run-1", report: Self.status().report, server: ServerStatus(ping: .zero))
        let gone = QueueOverview(now: last.report.now + 2000, counts: QueueCounts(), oldestReady: nil, samples: [], workers: [])
        var watched = WatchedQueue(last)
        #expect(watched.goneAfter == nil)
        for later in [0, 1000, 2000] {
            let overview = QueueOverview(now: gone.now + later, counts: QueueCounts(), oldestReady: nil, samples: [], workers: [])
            watched.note(StatusReport(name: "run-1", report: overview, server: last.server))
        }
        let screen = WatchScreen(
            status: watched.status, looks: watched.looks, goneAfter: watched.goneAfter, size: .init(columns: 80, rows: 24),
            style: Self.style)
        let lines = screen.lines.map(\.plain)
        #expect(lines[2] == "finished: the run ended and removed its queue. The counts are from 2 s before.")
        #expect(lines[4].hasPrefix("ended 50000: "))
        #expect(lines.contains("its workers have ended") && !lines.contains { $0.contains("working") || $0.contains("IN FLIGHT") })
    }

    @Test func `the screen draws a watcher's own looks`() {
        func status(_ second: Int, _ ended: Int) -> StatusReport {
            var counts = QueueCounts()
            (counts.enqueued, counts.done, counts.fetched, counts.ready) = (300, ended, ended, 300 - ended)
            let overview = QueueOverview(now: 1_000_000 + second * 1000, counts: counts, oldestReady: nil, samples: [], workers: [])
            return StatusReport(name: "default", report: overview, server: ServerStatus(ping: .zero))
        }
        var watched = WatchedQueue(status(0, 0))
        for second in 1...30 { watched.note(status(second, second < 3 ? 0 : 300)) }
        let screen = WatchScreen(status: watched.status, looks: watched.looks, size: .init(columns: 121, rows: 30), style: Self.style)
        let lines = screen.lines.map(\.plain)
        #expect(lines.contains { $0.hasPrefix("ended a second: ") && $0.hasSuffix(" highest 300/s, last 1 min") })
        #expect(lines.contains { $0.hasPrefix("not ended: 0 ") && $0.hasSuffix(" highest 300, last 1 min") })
        // Thirty seconds are half of the width. The burst is two columns of half a second.
        #expect(lines.contains(String(repeating: " ", count: 64) + "██" + String(repeating: " ", count: 54)))
        #expect(lines.contains(String(repeating: " ", count: 60) + "▁▁▁▁██" + String(repeating: "▁", count: 54)))
    }

    @Test func `the screen and the text say that a queue is unknown, in the same words`() {
        let overview = QueueOverview(
            now: 5, counts: QueueCounts(), oldestReady: nil, samples: [], workers: [], others: [OtherQueue(name: "x", open: 1, workers: 1)])
        let status = StatusReport(name: "run-1", report: overview, server: ServerStatus(ping: .zero))
        let sentence = "there is no queue 'run-1': its run has not begun, or has ended and removed it"
        let lines = Self.lines(status, 80, 24)
        #expect(lines[2] == sentence && lines.contains("There is 'x': '--queue x' shows it."))
        #expect(status.lines(Self.style).contains("progress  \(sentence)"))
        #expect(status.unknown?.hint == "\(sentence). There is 'x': '--queue x' shows it.")
    }

    @Test func `the time left is told in the same words by the screen and by the text`() {
        func told(_ waits: QueueWaits = .init(), isPaused: Bool = false, ended: Int = 0) -> [String?] {
            var counts = QueueCounts()
            (counts.enqueued, counts.done, counts.ready, counts.paused) = (110, ended, 110 - ended, isPaused ? 1 : 0)
            let samples = [QueueSample(time: 0, done: 0, failed: 0, bytes: 0, open: 110)]
            let worker = WorkerStatus(id: "w", heartbeat: .zero, record: nil)
            let overview = QueueOverview(now: 10_000, counts: counts, oldestReady: nil, samples: samples, workers: [worker], waits: waits)
            let status = StatusReport(name: "q", report: overview, server: ServerStatus(ping: .zero), work: WorkAtHand([], open: 110))
            let screen = Self.lines(status, 120, 24)[2].split(separator: "ended, ").last.map(String.init) ?? ""
            return [screen, status.lines(Self.style).first { $0.hasPrefix("left ") }]
        }
        #expect(told(ended: 100) == ["1 s left", "left      1 s"])
        #expect(told() == ["time left unknown", "left      unknown"])
        #expect(told(isPaused: true) == ["time left unknown while the queue is paused", "left      unknown while the queue is paused"])
        #expect(told(QueueWaits(delayed: 110)) == ["110 wait for their next attempt", "left      110 wait for their next attempt"])
    }

    @Test func `a worker of which nothing was heard for long is silent, and the text says when its jobs come back`() {
        let record = Self.status().report.workers[0].record
        let told = [15_000, 16_000, 50_000].map { silence in
            let worker = WorkerStatus(id: "w", heartbeat: .milliseconds(silence), record: record)
            let overview = QueueOverview(now: 100_000, counts: QueueCounts(), oldestReady: nil, samples: [], workers: [worker])
            let status = StatusReport(name: "q", report: overview, server: ServerStatus(ping: .zero))
            return status.lines(Self.style).first { $0.hasPrefix("w ") } ?? ""
        }
        #expect(told[0].hasSuffix("  working"))
        #expect(told[1].hasSuffix("  silent for 16 s, its jobs come back in 19 s at the latest"), "\(told[1])")
        #expect(told[2].hasSuffix("  silent for 50 s"), "\(told[2])")
    }

    @Test func `failed and dead jobs are shown as one number`() {
        let lines = Self.status().lines(Self.style)
        #expect(lines.contains("failed    2000 (all kept as dead jobs: 'gannet jobs list --state dead')"))
        #expect(!lines.contains { $0.hasPrefix("dead ") })
    }

    private static func batch(_ number: Int, age: Int, total: Int, ended: Int) -> Batch {
        Batch(
            name: "b\(number)", number: number, options: BatchOptions(), age: .seconds(age), input: .closed, total: total, done: ended,
            failed: 0, cancelled: 0, active: 0, parked: 0, delayed: 0)
    }

    @Test func `a percentage covers the oldest batch that has not ended and all later batches`() throws {
        let old = Self.batch(1, age: 1000, total: 1_000_000, ended: 1_000_000)
        let (running, younger) = (Self.batch(2, age: 60, total: 100, ended: 20), Self.batch(3, age: 10, total: 30, ended: 30))
        let work = WorkAtHand([younger, running, old], open: 80)
        #expect(work.batches == 2 && work.ended == 50 && work.total == 130)
        #expect(WorkAtHand([], open: 0).share == 0)
        // Jobs that end between the looks at the batches and at the counts are in neither.
        #expect(WorkAtHand([running], open: 70).total == 100)
    }

    @Test func `when all jobs have ended the screen tells of the work that was at hand, until more work comes`() {
        func finished(_ batches: [Batch], after last: WorkAtHand?) -> (line: String, work: WorkAtHand) {
            var counts = QueueCounts()
            (counts.enqueued, counts.done, counts.fetched) = (1000, 1000, 1000)
            let overview = QueueOverview(now: 5, counts: counts, oldestReady: nil, samples: [], workers: [])
            let work = WorkAtHand(batches, open: 0, after: last)
            let status = StatusReport(name: "default", report: overview, server: ServerStatus(ping: .zero), work: work)
            return (Self.lines(status, 80, 24)[2].components(separatedBy: "100%  ").last ?? "", work)
        }
        let old = Self.batch(1, age: 1000, total: 400, ended: 400)
        let running = WorkAtHand([Self.batch(2, age: 9, total: 200, ended: 64), old], open: 136)
        #expect(running.total == 200 && running.ended == 64)
        let second = Self.batch(2, age: 11, total: 200, ended: 200)
        let end = finished([second, old], after: running)
        #expect(end.line == "finished: 200 of 200 ended")
        #expect(finished([second, old], after: end.work).line == "finished: 200 of 200 ended")
        #expect(finished([second, old], after: nil).line == "finished: 200 of 200 ended", "the newest batch")
        let third = Self.batch(3, age: 1, total: 30, ended: 30)
        #expect(finished([third, second, old], after: running).line == "finished: 230 of 230 ended in 2 batches")
        #expect(finished([third, second, old], after: end.work).line == "finished: 30 of 30 ended")
    }

    @Test func `the text of status is aligned, and an unknown value is a dash`() {
        let text = Self.status().lines(Self.style)
        #expect(text[1] == "progress  50%: 50000 of 100000 ended")
        #expect(text[2] == "ready     49800 (the oldest for 3 min 12 s)")
        #expect(text.contains("left      10 min 25 s") || text.contains { $0.hasPrefix("left      ") && $0.contains("min") })
        #expect(text.contains { $0.hasPrefix("worker0  machine-0") })
        let empty = QueueOverview(now: 5, counts: QueueCounts(), oldestReady: nil, samples: [], workers: [])
        let server = ServerStatus(ping: .zero)
        let unknown = StatusReport(name: "q", report: empty, server: server).lines(Self.style)
        #expect(unknown.contains("speed     —") && unknown.contains("left      —"))
    }
}
