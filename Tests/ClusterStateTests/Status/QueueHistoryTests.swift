import Testing

@testable import ClusterState

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
        counts.isPaused = isPaused
        let history = samples.map {
            QueueSample(
                time: $0.second * 1000, done: $0.done, failed: $0.done / 10, bytes: $0.done * 1000, open: 10_000 - $0.done * 11 / 10)
        }
        let beat = WorkerStatus(id: "w", heard: now.second * 1000 - silence, record: nil)
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
        let report = Self.report([(100, 5000), (110, 6000), (120, 0)], now: (130, 100))
        #expect(report.rate?.donePerSecond == 10)
        #expect(report.history.throughput(steps: 4, of: .seconds(10)) == [nil, nil, nil, 11])
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
        let history = Self.report([(90, 0), (95, 100), (105, 200)], now: (110, 200)).history
        #expect(history.throughput(steps: 4, of: .seconds(10)) == [nil, nil, 16.5, 5.5])
        #expect(history.depth(steps: 3, of: .seconds(10)) == [10_000, 9835, 9780])
        #expect(history.throughput(steps: 0, of: .seconds(10)) == [])
    }

    @Test func `a burst after a pause is drawn as a burst, not over the whole pause`() {
        let history = Self.report([(0, 0), (300, 1000)], now: (310, 1000)).history
        #expect(history.throughput(steps: 5, of: .seconds(5)) == [0, 0, 220, 0, 0])
        #expect(history.depth(steps: 4, of: .seconds(5)) == [10_000, 8900, 8900, 8900])
    }

    @Test func `hosts are summed over all living workers`() {
        func beat(_ name: String, _ time: Int, running: Int) -> WorkerStatus {
            let host = HostLoad(name: "h", running: running, longest: .seconds(running), finished: 10, failed: 5, average: .seconds(2))
            let record = WorkerRecord(
                machine: "m", processID: 1, version: "1", concurrency: 8, active: running, isStopping: false, interval: .seconds(5),
                hosts: [host])
            return WorkerStatus(id: name, heard: time, record: record)
        }
        let overview = QueueOverview(
            now: 100_000, counts: QueueCounts(), oldestReady: 40_000, samples: [],
            workers: [beat("a", 99_000, running: 3), beat("b", 98_000, running: 1), beat("dead", 84_000, running: 9)])
        let known = QueueOverview(
            now: 100_000, counts: QueueCounts(), oldestReady: nil, samples: [], workers: overview.workers, running: ["h": 2])
        #expect(known.hosts.map(\.running) == [2])
        #expect(
            overview.hosts == [
                HostStatus(name: "h", running: 4, longest: .seconds(3), endedPerSecond: 4, failureShare: 0.5, average: .seconds(2))
            ])
        #expect(overview.sortedWorkers.map { $0.state(at: 100_000) } == [.working, .working, .silent])
        #expect(overview.sortedWorkers.map { $0.heartbeat(at: 100_000) } == [.seconds(1), .seconds(2), .seconds(16)])
        #expect(overview.oldestAge == .seconds(60))
    }
}
