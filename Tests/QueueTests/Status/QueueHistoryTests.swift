import Testing

@testable import GannetQueue

@Suite struct QueueHistoryTests {
    /// An overview of a queue of 10,000 jobs, with samples at these moments in seconds.
    private static func overview(
        _ samples: [(second: Int, done: Int)], now: (second: Int, done: Int), isPaused: Bool = false, silence: Int = 0
    ) -> QueueOverview {
        var counts = QueueCounts()
        counts.enqueued = 10_000
        counts.done = now.done
        counts.failed = now.done / 10
        counts.bytes = now.done * 1000
        counts.ready = 10_000 - now.done - now.done / 10
        counts.paused = isPaused ? 1 : 0
        let history = samples.map {
            QueueSample(
                time: $0.second * 1000, done: $0.done, failed: $0.done / 10, bytes: $0.done * 1000, open: 10_000 - $0.done * 11 / 10)
        }
        let beat = WorkerStatus(id: "w", heartbeat: .milliseconds(silence), record: nil)
        return QueueOverview(now: now.second * 1000, counts: counts, oldestReady: nil, samples: history, workers: [beat])
    }

    private static func report(_ samples: [(second: Int, done: Int)], now: (second: Int, done: Int)) -> QueueOverview {
        overview(samples, now: now)
    }

    @Test func `the rate is that of the last minute, and at first that of the time so far`() {
        let young = Self.report([(100, 0)], now: (103, 30))
        #expect(young.rate == QueueRate(donePerSecond: 10, endedPerSecond: 11, bytesPerSecond: 10_000))
        let old = Self.report([(0, 0), (100, 100), (110, 200), (150, 600), (160, 700)], now: (165, 800))
        #expect(old.rate?.donePerSecond == Double(800 - 200) / 55)
        #expect(Self.report([], now: (100, 50)).rate == nil)
        #expect(Self.report([(100, 0)], now: (100, 0)).rate == nil)
    }

    @Test func `a queue without workers has the rate zero, and a queue with workers again has the present rate`() {
        #expect(Self.report([(0, 0), (5, 500)], now: (500, 500)).rate?.donePerSecond == 0)
        #expect(Self.report([(0, 0), (5, 500), (500, 500)], now: (505, 600)).rate?.donePerSecond == 20)
    }

    @Test func `samples from before a queue was cleared count for nothing`() {
        let report = Self.report([(100, 5000), (110, 6000), (125, 0)], now: (130, 100))
        #expect(report.rate?.donePerSecond == 20)
        #expect(report.history.throughput(steps: 4, of: .seconds(5)) == [nil, nil, nil, 22])
    }

    @Test func `the time left follows the rate, is zero when all has ended, and is unknown while nothing ends`() {
        #expect(Self.report([(100, 0)], now: (110, 1000)).remaining == .seconds(8900 / 110.0))
        #expect(Self.report([(100, 0)], now: (110, 0)).remaining == nil)
        #expect(Self.overview([(100, 0)], now: (110, 1000), isPaused: true).remaining == nil)
        #expect(Self.overview([(100, 0)], now: (110, 1000), silence: 16_000).remaining == nil, "no worker is alive")
        var ended = QueueCounts()
        ended.enqueued = 5
        ended.done = 5
        #expect(QueueOverview(now: 0, counts: ended, oldestReady: nil, samples: [], workers: []).remaining == .zero)
    }

    @Test func `a chart's steps are filled from samples at other times, and are empty before the first`() {
        let history = Self.report([(90, 0), (95, 100), (100, 200)], now: (105, 200)).history
        #expect(history.throughput(steps: 4, of: .seconds(10)) == [nil, nil, 22, 0])
        #expect(history.depth(steps: 3, of: .seconds(10)) == [10_000, 10_000, 9780])
        #expect(history.throughput(steps: 0, of: .seconds(10)) == [])
    }

    /// A history of these moments, in seconds. The last is the present. The others are a watcher's looks, or samples of workers.
    private static func history(_ moments: [(second: Double, done: Int, open: Int)], watched: Bool = false) -> QueueHistory {
        let samples = moments.map { QueueSample(time: Int($0.second * 1000), done: $0.done, failed: 0, bytes: $0.done, open: $0.open) }
        func overview(_ present: QueueSample, _ samples: [QueueSample] = []) -> QueueOverview {
            var counts = QueueCounts()
            (counts.enqueued, counts.done, counts.bytes, counts.ready) = (
                present.done + present.open, present.done, present.bytes, present.open
            )
            return QueueOverview(now: present.time, counts: counts, oldestReady: nil, samples: samples, workers: [])
        }
        var looks: [QueueSample] = []
        if watched { for sample in samples { looks.note(overview(sample)) } }
        return QueueHistory(overview(samples[samples.count - 1], watched ? [] : samples.dropLast()), looks: looks)
    }

    /// 300 jobs waited for two seconds, and were fetched within the next. Somebody watched from then on.
    private static func burst(_ seconds: Int) -> QueueHistory {
        history((0...seconds).map { (Double($0), $0 < 3 ? 0 : 300, $0 < 3 ? 300 : 0) }, watched: true)
    }

    @Test func `a burst of one second stays at its place while somebody watches, and the idle time is drawn after it`() {
        let history = Self.burst(24)
        #expect(
            history.throughput(steps: 60, of: .seconds(1)) == Array(repeating: nil, count: 36) + [0, 0, 300]
                + Array(repeating: 0, count: 21))
        let depth = history.depth(steps: 60, of: .seconds(1)).compactMap(\.self)
        #expect(depth == [300, 300, 300, 300] + Array(repeating: 0, count: 21))
        // A column of 0.5 s is no reason to draw it longer.
        #expect(history.throughput(steps: 120, of: .milliseconds(500)).count { $0 == 300 } == 2)
    }

    @Test func `the highest value does not sink while its second is in the span shown, whatever the width`() {
        for seconds in 3...58 {
            for columns in [40, 119, 199] {
                let step = Duration.seconds(60) / columns
                #expect(Self.burst(seconds).throughput(steps: columns, of: step).compactMap(\.self).max() == 300)
                #expect(Self.burst(seconds).depth(steps: columns, of: step).compactMap(\.self).max() == 300)
            }
        }
        // In a longer span too, where a column stands for several seconds.
        #expect(Self.burst(200).throughput(steps: 79, of: .seconds(300) / 79).compactMap(\.self).max() == 300)
    }

    @Test func `workers' samples do not blur what a watcher saw, and fill the time before`() {
        let look = { (time: Int, done: Int) in QueueSample(time: time, done: done, failed: 0, bytes: 0, open: 400 - done) }
        var counts = QueueCounts()
        (counts.enqueued, counts.done, counts.ready) = (400, 300, 100)
        var looks: [QueueSample] = []
        for (time, done) in [(10_000, 100), (11_000, 100), (12_000, 300)] {
            (counts.done, counts.ready) = (done, 400 - done)
            looks.note(QueueOverview(now: time, counts: counts, oldestReady: nil, samples: [], workers: []))
        }
        let samples = [look(5000, 0), look(9900, 100), look(11_900, 250)]
        let overview = QueueOverview(now: 12_000, counts: counts, oldestReady: nil, samples: samples, workers: [])
        #expect(QueueHistory(overview, looks: looks).throughput(steps: 8, of: .seconds(1)) == [nil, 20, 20, 20, 20, 20, 0, 200])
    }

    @Test func `work in a gap between samples is drawn at its beginning, and new jobs at its end`() {
        // A worker fetched 300 jobs and left. The next one came 27 s later, for 200 more.
        let history = Self.history([(0, 0, 300), (27, 300, 200), (28, 400, 100)])
        #expect(history.throughput(steps: 28, of: .seconds(1)) == Array(repeating: 60, count: 5) + Array(repeating: 0, count: 22) + [100])
        let depth = history.depth(steps: 28, of: .seconds(1))
        #expect(depth == [300, 240, 180, 120, 60] + Array(repeating: 0, count: 21) + [200, 200])
        #expect(Self.history([(0, 0, 300), (60, 300, 0)]).throughput(steps: 6, of: .seconds(10)) == [60, 0, 0, 0, 0, 0])
    }

    @Test func `a queue that was filled after the first sample is drawn as falling, not as rising from nothing`() {
        let history = Self.history([(0, 0, 0), (5, 56, 187), (10, 143, 100)])
        #expect(history.depth(steps: 5, of: .seconds(2)) == [187, 187, 187, 169.6, 134.8])
    }

    @Test func `a burst after a pause without workers is drawn as a burst, not over the whole pause`() {
        let history = Self.report([(0, 0), (300, 1000)], now: (310, 1000)).history
        #expect(history.throughput(steps: 62, of: .seconds(5)) == [220] + Array(repeating: 0, count: 61))
        #expect(history.depth(steps: 62, of: .seconds(5)) == [10_000] + Array(repeating: 8900, count: 61))
    }

    @Test func `hosts are summed over all living workers`() throws {
        func beat(_ name: String, _ time: Int, running: Int) -> WorkerStatus {
            let host = HostLoad(name: "h", running: running, longest: .seconds(running), finished: 10, failed: 5, average: .seconds(2))
            let record = WorkerRecord(
                machine: "m", processID: 1, version: "1", concurrency: 8, active: running, isStopping: false, interval: .seconds(5),
                hosts: [host], hostLimit: 8, age: .seconds(90), ended: 10, partitions: [0],
                patience: WaitPatience(silence: .zero, rests: .zero), lease: .seconds(30))
            return WorkerStatus(id: name, heartbeat: .milliseconds(100_000 - time), record: record)
        }
        let overview = QueueOverview(
            now: 100_000, counts: QueueCounts(), oldestReady: 40_000, samples: [],
            workers: [beat("a", 99_000, running: 3), beat("b", 98_000, running: 1), beat("dead", 84_000, running: 9)])
        let known = QueueOverview(
            now: 100_000, counts: QueueCounts(), oldestReady: nil, samples: [], workers: overview.workers,
            standings: ["h": HostStanding(running: 2, restsUntil: 103_000)])
        #expect(known.hosts.map(\.running) == [2] && known.hosts.map(\.rest) == [.seconds(3)])
        let host = try #require(overview.hosts.first)
        #expect(overview.hosts.count == 1 && host.name == "h" && host.running == 4 && host.longest == .seconds(3))
        #expect(host.endedPerSecond == 4 && host.failureShare == 0.5 && host.average == .seconds(2))
        #expect(host.limit == 8 && host.rest == nil && !host.isGivenUp)
        #expect(overview.workers.byMachine.map(\.state) == [.working, .working, .silent])
        #expect(overview.workers.byMachine.map(\.heartbeat) == [.seconds(1), .seconds(2), .seconds(16)])
        #expect(overview.oldestAge == .seconds(60))
    }
}
