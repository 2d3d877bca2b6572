internal import ClusterState
internal import GannetBasics

/// Tells onlookers that a worker is alive and what it does, with one command every few seconds. No job depends on it.
struct Heartbeat: Sendable {
    let name: String
    let queue: FetchQueue
    let held: HeldLeases
    let activity: WorkerActivity
    let options: WorkerOptions

    private let isHeard = Flag()

    /// How long an ending worker waits for Redis to take its farewell.
    private static let farewell = Duration.milliseconds(300)

    init(name: String, queue: FetchQueue, held: HeldLeases, activity: WorkerActivity, options: WorkerOptions) {
        self.name = name
        self.queue = queue
        self.held = held
        self.activity = activity
        self.options = options
    }

    /// Sends heartbeats until the task is cancelled.
    /// - Parameter note: Receives how far the queue has come.
    func run(_ note: @Sendable (QueueProgress) -> Void) async {
        while !Task.isCancelled {
            do throws(StateError) {
                note(try await queue.beat(name, record))
                isHeard.set(true)
            } catch {
                // Claims and settlements report the outage. Onlookers see that the worker is silent.
                isHeard.set(false)
            }
            // The random part keeps the workers of a fleet from sending at the same time.
            do { try await Task.sleep(for: options.heartbeat * Double.random(in: 0.9...1)) } catch { return }
        }
    }

    /// Tells onlookers that the worker has ended, if Redis took the last heartbeat.
    func leave() async {
        guard isHeard.value else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.leave(name) }
            group.addTask { try? await Task.sleep(for: Self.farewell) }
            await group.next()
            group.cancelAll()
        }
    }

    private var record: WorkerRecord {
        let seen = activity.snapshot
        return WorkerRecord(
            machine: ThisProcess.machine, processID: ThisProcess.id, version: options.version, concurrency: options.concurrency,
            active: held.count, isStopping: !held.claimsAgain, interval: seen.interval,
            hosts: seen.notable(WorkerRecord.mostHosts))
    }

    private final class Flag: Sendable {
        private let state = Mutex(false)
        var value: Bool { state.withLock { $0 } }
        func set(_ value: Bool) { state.withLock { $0 = value } }
    }
}
