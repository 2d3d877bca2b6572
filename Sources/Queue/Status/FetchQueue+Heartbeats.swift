internal import GannetBase
internal import GannetRedisClient

/// Heartbeats of workers.
extension FetchQueue {
    /// Tells Redis that a worker is alive, and what the worker is doing. A worker repeats this every few seconds, and a queue remembers at
    /// most a thousand workers. A lost heartbeat is not repeated, because the next one follows.
    /// - Parameter drain: Is called where somebody has asked the worker to drain, also if the heartbeat fails later.
    package func beat(
        _ worker: String, _ record: WorkerRecord, drain: () -> Void = {}
    ) async throws(StateError) -> QueueProgress {
        let (progress, intents) = try await StateError.mapping {
            var (counts, waits) = (QueueCounts(), QueueWaits())
            let (looks, partitions) = try await lookEverywhere(isForOnlookers: false)
            for part in looks.values {
                counts.add(part.counts)
                waits.add(part.waits)
            }
            waits.patience = record.patience
            waits.patience?.age = record.age
            // The worker is alive also where a server of the cluster is away. Sums without that server's jobs would mislead.
            let away = partitions?.away.first
            let (intents, isAskedToDrain) = try await report(worker, record.bytes, away == nil ? counts : nil)
            if isAskedToDrain { drain() }
            if let away { throw RedisError(.clusterDown, away.sentence) }
            return (QueueProgress(accepted: counts.enqueued, ended: counts.enqueued - counts.open, waits: waits), intents)
        }
        // The commands behind these intents have stopped half-way.
        for intent in intents where cluster.partitions.count > 1 { _ = try await finish(intent) }
        return progress
    }

    /// Tells Redis that a worker has ended. Only the home partition has to answer.
    package func leave(_ worker: String) async throws(StateError) {
        try await StateError.mapping {
            // A sample of the queue's counts, where all servers answer at once. An ending worker does not wait for it.
            let counts = try? await inTime(Bounds.farewellLook) {
                let (looks, partitions) = try await lookEverywhere(isForOnlookers: false)
                return partitions?.away.isEmpty == false ? nil : looks.values.reduce(into: QueueCounts()) { $0.add($1.counts) }
            }
            _ = try await report(worker, [], counts)
        }
    }

    /// Runs an exchange that settles nothing and takes no job, so that a check of a worker uses the same path through Redis. Like any
    /// exchange, this one also takes back a part of what ended leases held.
    /// - Parameters:
    ///   - lease: The worker's lease.
    ///   - host: The worker's politeness towards hosts.
    package func tryClaiming(lease: Duration, host: HostRule) async throws(StateError) {
        // All checks share this incarnation, which never holds anything.
        var request = ExchangeRequest(Incarnation(0), number: 1, lease: lease)
        request.host = host
        _ = try await exchange(request, in: cluster.home)
    }
}

/// The home partition keeps what workers say of themselves. Nothing that happens to a job depends on it, so a report that meets another one is
/// no harm.
///
/// | key | field | holds |
/// | --- | --- | --- |
/// | `<q>queue` | `worker:<name>` | the time (6), and what the worker said last |
/// | | `history` | samples, the youngest last |
/// | | `intent:<what>` | since when a loop over partitions is under way |
/// | | `beats` | how far workers that are gone were looked for |
/// | | `drain:<name>` | since when the worker is asked to drain; it goes with the worker |
/// | `state` | `queue:<name>` | when a worker of the queue said something last |
extension FetchQueue {
    private enum Bounds {
        static let silence = 600_000, workers = 1000, fieldsBesides = 40, fieldsAtOnce = 50
        static let queues = 100, queueKept = 900_000, oldIntent = 30_000
        /// Somewhat less than the time between a worker's heartbeats, so that none of a single worker's is passed over.
        static let betweenSamples = 4000
        static let farewellLook = Duration.milliseconds(250)
    }

    /// Answers intents that are older than half a minute, and whether the worker is asked to drain.
    /// - Parameter counts: A sample for the queue's history; `nil` where it is not known.
    private func report(
        _ worker: String, _ record: [UInt8], _ counts: QueueCounts?
    ) async throws -> (intents: [QueueIntent], isAskedToDrain: Bool) {
        let name = try checkedName()
        let (key, state) = (cluster.home.keys.queue(name), cluster.home.keys.state)
        let (field, mark) = (WorkerField.record(worker), RedisArgument.string("queue:\(name)"))
        let wish = RedisArgument.string(WorkerField.drain(worker))
        let reads = [
            RedisCommand("HMGET", key, "history", "beats", wish), RedisCommand("HLEN", key), RedisCommand("HEXISTS", key, .string(field)),
            RedisCommand("HEXISTS", state, mark),
        ]
        let (now, found) = try await cluster.answers(to: reads, in: cluster.home)
        let fields = try found[0].fields(3, of: "HMGET")
        let (isKnown, isWished) = (try found[2].asInteger() == 1, try fields[2].asOptionalBytes() != nil)
        let page = try await cluster.page("HSCAN", key, from: fields[1].asOptionalString() ?? "0", count: Bounds.fieldsAtOnce)

        var (commit, intents) = (Commit(), [QueueIntent]())
        for (name, value) in page.items.pairs {
            let (other, value) = (try name.asString(), try value.asBytes())
            var reader = ByteReader(value)
            // A worker that was killed takes neither its record nor a wish with it.
            let isOfWorker = other.hasPrefix(WorkerField.records) && other != field || other.hasPrefix(WorkerField.drains)
            if isOfWorker, (reader.number(6) ?? 0) < now - Bounds.silence {
                commit.write("HDEL", key, .bytes(try name.asBytes()))
            }
            let text = String(decoding: value, as: UTF8.self)
            if let intent = QueueIntent(field: other, value: text), (Int(text.prefix { $0.isNumber }) ?? 0) < now - Bounds.oldIntent {
                intents.append(intent)
            }
        }
        // A wish that was there before the worker was meant for another one.
        if isWished, record.isEmpty || !isKnown { commit.write("HDEL", key, wish) }
        if record.isEmpty {
            commit.write("HDEL", key, .string(field))
        } else if try isKnown || found[1].asInteger() < Bounds.workers + Bounds.fieldsBesides {
            commit.write("HSET", key, .string(field), .bytes(QueueSample.bytes(of: [now]) + record))
        }
        let history = try fields[0].asOptionalBytes() ?? []
        if let counts, QueueSample.read(history).last.map({ now - $0.time >= Bounds.betweenSamples }) ?? true {
            let sample = QueueSample(time: now, done: counts.done, failed: counts.failed, bytes: counts.bytes, open: counts.open)
            commit.write("HSET", key, "history", .bytes(sample.appended(to: history)))
        }
        commit.write("HSET", key, "beats", .string(page.next))
        // The queue is new, or Redis was emptied. Only a program that was there before knows the schema then.
        if try found[3].asInteger() == 0 { commit.write("SETNX", cluster.home.keys.schema, cluster.entry) }
        if !record.isEmpty {
            if try found[3].asInteger() == 0 { try await forgetQueues(now: now, &commit) }
            commit.write("HSET", state, mark, .integer(now))
        }
        _ = try await commit.run(cluster, in: cluster.home, queue: name)
        return (intents, isKnown && isWished)
    }

    /// Forgets queues without a worker, and the one that was heard of first where there are too many.
    private func forgetQueues(now: Int, _ commit: inout Commit) async throws {
        let state = cluster.home.keys.state
        let all = try await cluster.connection.send(RedisCommand("HGETALL", state)).asArray()
        var heard: [(name: RedisArgument, time: Int)] = []
        for (field, time) in all.pairs where try field.asString().hasPrefix("queue:") {
            heard.append((.bytes(try field.asBytes()), Int(try time.asString()) ?? 0))
        }
        for queue in heard where queue.time < now - Bounds.queueKept { commit.write("HDEL", state, queue.name) }
        let living = heard.filter { $0.time >= now - Bounds.queueKept }
        if living.count >= Bounds.queues, let first = living.min(by: { $0.time < $1.time }) { commit.write("HDEL", state, first.name) }
    }
}
