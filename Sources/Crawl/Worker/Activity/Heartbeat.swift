internal import GannetBase
internal import GannetQueue
internal import GannetRedis

/// Tells onlookers that a worker is alive and what it does, with one command every few seconds. No job depends on it.
struct Heartbeat: Sendable {
    let name: String
    let queue: FetchQueue
    let pulse: WorkerPulse
    let activity: WorkerActivity
    let options: WorkerOptions
    /// Is called once, when somebody has asked the worker to drain.
    let drain: @Sendable () -> Void

    private let hasHeardWish = SharedFlag()
    /// The last heartbeat failed. A cancelled heartbeat is no failure, because it may have reached Redis.
    private let hasFailed = SharedFlag()
    /// The last of the regular heartbeats said that the worker has no job, and no other heartbeat has followed.
    let hasSaidIdle = SharedFlag()

    /// The jobs of one claim are begun within this time.
    private static let gathering = Duration.milliseconds(100)

    /// How long an ending worker waits for Redis to take its farewell.
    private static let farewell = Duration.seconds(1)
    private static let farewellPause = Duration.milliseconds(50)

    init(
        name: String, queue: FetchQueue, pulse: WorkerPulse, activity: WorkerActivity, options: WorkerOptions,
        drain: @escaping @Sendable () -> Void = {}
    ) {
        self.name = name
        self.queue = queue
        self.pulse = pulse
        self.activity = activity
        self.options = options
        self.drain = drain
    }

    /// Sends heartbeats until the task is cancelled.
    /// - Parameter note: Receives how far the queue has come.
    func run(_ note: @Sendable (QueueProgress) -> Void) async {
        while !Task.isCancelled {
            // Set before the jobs are counted, because a job may begin meanwhile.
            hasSaidIdle.set()
            let record = record
            if record.active > 0 { hasSaidIdle.set(false) }
            await beat(record, note)
            // The random part keeps the workers of a fleet from sending at the same time.
            do { try await Task.sleep(for: options.heartbeat * Double.random(in: 0.9...1)) } catch { return }
        }
    }

    /// Sends a heartbeat soon after an idle worker has begun to work, until the task is cancelled. Otherwise onlookers would see an idle
    /// worker beside its active jobs for some seconds. No more than one comes for each regular heartbeat.
    func runAfterBeginnings(_ note: @Sendable (QueueProgress) -> Void) async {
        for await _ in pulse.beginnings where hasSaidIdle.take() {
            do { try await Task.sleep(for: Self.gathering) } catch { return }
            await beat(record, note)
        }
    }

    private func beat(_ record: WorkerRecord, _ note: @Sendable (QueueProgress) -> Void) async {
        do throws(StateError) {
            let progress = try await queue.beat(name, record) {
                if !hasHeardWish.isSet {
                    hasHeardWish.set()
                    drain()
                }
            }
            note(progress)
            hasFailed.set(false)
        } catch {
            // Exchanges report the outage. Onlookers see that the worker is silent.
            if !error.isCancellation { hasFailed.set() }
        }
    }

    /// Tells onlookers that the worker has ended. A server may just have taken the place of another one, so a failed call is made again.
    /// - Returns: Whether Redis has taken the worker off its list.
    func leave() async -> Bool { await untilFarewell { (try? await queue.leave(name)) != nil } }

    /// Tells onlookers what a worker leaves that ends without handing it back.
    func sayLast() async {
        let record = record
        _ = await untilFarewell { (try? await queue.beat(name, record) {}) != nil }
    }

    private func untilFarewell(_ call: @escaping @Sendable () async -> Bool) async -> Bool {
        let hasSucceeded = try? await inTime(Self.farewell) {
            while !Task.isCancelled {
                if await call() { return true }
                try? await Task.sleep(for: Self.farewellPause)
            }
            return false
        }
        return hasSucceeded ?? false
    }

    private var record: WorkerRecord {
        let (seen, places) = (activity.snapshot, activity.places)
        return WorkerRecord(
            machine: ThisProcess.machine, processID: ThisProcess.id, version: options.version, concurrency: places.count,
            bound: places.bound, active: pulse.held, isStopping: pulse.isStopping, isFull: activity.fullness != nil,
            isHeld: activity.isHeld,
            interval: seen.interval,
            hosts: seen.notable(WorkerRecord.mostHosts), hostLimit: options.hostLimit,
            age: pulse.age, ended: seen.hosts.reduce(0) { $0 + $1.finished }, partitions: pulse.partitions,
            patience: options.retryPolicy.wait, lease: options.lease)
    }
}
