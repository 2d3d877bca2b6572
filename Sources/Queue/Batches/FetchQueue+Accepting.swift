internal import GannetBase
internal import GannetRedisClient

/// Begins and fills batches. A batch is a ledger of the accepted input.
extension FetchQueue {
    package static let longestBatchName = 256
    private static let longestSource = 8192
    package static let largestChunk = 8192
    package static let longestDelay = Duration.seconds(365 * 24 * 3600)

    /// Begins a batch. A batch that was begun before keeps its options and its source.
    /// - Throws: ``StateError/otherHeaders`` where the batch was begun with other headers: its jobs are fetched with those.
    package func begin(batch: String, from source: String = "", options: BatchOptions = .init()) async throws(StateError) -> BatchProgress {
        // Before its first job. A batch whose input has ended may be exported already, and holds nothing again.
        let store = BlobStore(cluster)
        let holding = HoldingBatch(queue: try checkedName(), batch: batch)
        let isNew = options.keeping == .cache ? false : try await persistently { try await store.hold(holding) }
        do throws(StateError) {
            let progress = try await progress(of: batch, from: source, options)
            if isNew, progress.state != .open { try await store.release([holding]) }
            guard let headers = progress.headers, headers.areSame(as: options.headers) else { throw .otherHeaders }
            return progress
        } catch {
            // A batch that is not known holds nothing. If this fails too, workers that need its room see it.
            if isNew, (try? await number(ofBatch: batch)) == .some(nil) { try? await store.release([holding]) }
            throw error
        }
    }

    private func progress(of batch: String, from source: String, _ options: BatchOptions) async throws(StateError) -> BatchProgress {
        guard (1...Self.longestBatchName).contains(batch.utf8.count), !batch.utf8.contains(where: \.isControl) else {
            throw .invalid("A batch's name has 1 to \(Self.longestBatchName) bytes and no control characters.")
        }
        guard source.utf8.count <= Self.longestSource else { throw .invalid("A batch's source has at most \(Self.longestSource) bytes.") }
        if let age = options.maximumAge, age < .zero { throw .invalid("An outcome cannot be younger than zero seconds.") }
        try await finishClearing()
        return try await persistently {
            var progress = try await begin(batch, source, options, number: nil, in: cluster.home)
            for partition in cluster.partitions.dropFirst() {
                let part = try await begin(batch, source, options, number: progress.number, in: partition)
                progress.offsets += part.offsets
                progress.totals += part.totals
            }
            return progress
        }
    }

    /// Begins a partition's part of a batch, unless that was begun before.
    /// - Parameter known: The batch's number; `nil` in the home partition, which gives it.
    private func begin(
        _ batch: String, _ source: String, _ options: BatchOptions, number known: Int?, in partition: Partition
    ) async throws -> BatchProgress {
        let (keys, queue) = (partition.keys, try checkedName())
        let (find, last, uses) = (
            RedisCommand("ZSCORE", keys.batches(of: queue), .string(batch)), RedisCommand("HGET", keys.state, "batches"),
            RedisCommand("HGET", keys.queue(queue), "priorities")
        )
        while true {
            let (now, replies) = try await cluster.answers(to: [find, last, uses], in: partition)
            let (found, given) = (try replies[0].asOptionalBytes(), try replies[1].asOptionalBytes())
            let numbered = found.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            let number: Int
            if let known {
                number = known
            } else if let numbered {
                number = numbered
            } else {
                number = try await self.number(forNew: batch, after: keys.naming { try replies[1].asCount() })
            }
            var commit = Commit()
            commit.effect = .begins
            commit.check(found, find)
            if numbered != number {
                let (record, priority) = (keys.batch(number, of: queue), "\(options.priority.number)")
                if known == nil {
                    commit.check(given, last)
                    commit.write("HSET", keys.state, "batches", .integer(max(number, try keys.naming { try replies[1].asCount() })))
                }
                commit.write(
                    "HSET", record, "id", .string(batch), "source", .string(source), "state", "open", "priority", .string(priority),
                    "refresh", .integer(options.refresh ? 1 : 0), "maxAge", .integer(options.maximumAge.map(\.wholeMilliseconds) ?? -1),
                    "offset", 0, "total", 0, "began", .integer(now), "touched", .integer(now))
                if !options.headers.bytes.isEmpty { commit.write("HSET", record, "headers", .bytes(options.headers.bytes)) }
                if let trace = options.trace { commit.write("HSET", record, "trace", .string(trace.text)) }
                if let manners = options.manners.text { commit.write("HSET", record, "manners", .string(manners)) }
                if let keeps = options.keeping.text { commit.write("HSET", record, "keeps", .string(keeps)) }
                // Exchanges look only where there can be something.
                let used = try replies[2].asOptionalString() ?? ""
                if !used.contains(priority) {
                    commit.check(Array(used.utf8), uses)
                    commit.write("HSET", keys.queue(queue), "priorities", .string(used + priority))
                }
                commit.write("ZADD", keys.batches(of: queue), .integer(number), .string(batch))
            }
            // A batch that was begun before notes that its queue is used, and no more.
            if try await commit.run(cluster, in: partition, queue: queue) { return try await progress(of: batch, number, in: partition) }
        }
    }

    /// The number of a batch that the home partition does not know.
    ///
    /// A failover may have set back the home partition alone. So a batch that other partitions still fill keeps its number, and a new batch
    /// gets a number above all that the others know.
    private func number(forNew batch: String, after last: Int) async throws -> Int {
        var (numbers, highest): ([Int], Int) = ([], last)
        for partition in cluster.partitions.dropFirst() {
            let key = partition.keys.batches(of: name)
            let replies = await cluster.connection.pipeline([
                RedisCommand("ZSCORE", key, .string(batch)), RedisCommand("ZRANGE", key, -1, -1, "WITHSCORES"),
            ])
            if let newest = try replies[1].get().asArray().last { highest = max(highest, Int(try newest.asString()) ?? 0) }
            guard let number = try replies[0].get().asOptionalString().flatMap({ Int($0) }) else { continue }
            let fields = RedisCommand("HMGET", partition.keys.batch(number, of: name), "state", "ended")
            let record = try await cluster.connection.send(fields).fields(2, of: "HMGET")
            // The home partition may have forgotten an ended batch before the others.
            if try record[0].asOptionalString() != nil, try record[1].asOptionalString() == nil { numbers.append(number) }
        }
        return numbers.max() ?? highest + 1
    }

    private func progress(of batch: String, _ number: Int, in partition: Partition) async throws -> BatchProgress {
        let command = RedisCommand("HMGET", partition.keys.batch(number, of: name), "source", "offset", "total", "state", "headers")
        let fields = try await cluster.connection.send(command).fields(5, of: "HMGET")
        guard let state = BatchProgress.State(rawValue: try fields[3].asOptionalString() ?? "cancelled") else {
            throw RedisError.form(of: "a batch")
        }
        return BatchProgress(
            name: batch, number: number, source: try fields[0].asOptionalString() ?? "", offsets: [try fields[1].asCount()],
            totals: [try fields[2].asCount()], state: state, headers: RequestHeaders(try fields[4].asOptionalBytes() ?? []))
    }

    /// A job with the number of its row in the input, from 1.
    package typealias NumberedJob = (entry: JobEntry, row: Int)

    /// Rows as they go to each partition. A row that became no job counts for the end alone.
    package struct Chunk: Sendable {
        /// The position up to which the input has been read.
        fileprivate let end: Int
        /// One for each partition.
        fileprivate let parts: [(blocks: [[UInt8]], jobs: Int)]
    }

    /// Packs the next part of a batch's input. A caller can do so while the part before is on its way.
    /// - Parameters:
    ///   - end: The position up to which the input has been read. Rows that became no jobs count too.
    ///   - progress: How far the batch has been accepted, with or without parts that end before these rows begin.
    package func pack(_ jobs: [NumberedJob], to end: Int, of progress: BatchProgress) throws(StateError) -> Chunk {
        guard jobs.count <= Self.largestChunk else { throw .invalid("At most \(Self.largestChunk) jobs are accepted at once.") }
        guard 0 <= end, end < 1 << 53 else { throw .invalid("An input's offsets go forward from 0.") }
        var parts = [[JobEntry]](repeating: [], count: cluster.partitions.count)
        for (entry, row) in jobs {
            let index = parts.count == 1 ? 0 : cluster.partition(of: entry.host).index
            // A producer that starts again reads rows again that a partition had accepted when the last one stopped.
            if row > progress.offsets[index] { parts[index].append(entry) }
        }
        let hasHeaders = progress.headers.map { !$0.lines.isEmpty } ?? true
        return Chunk(
            end: end,
            parts: parts.map { (Block.pack($0, batch: progress.number, hasHeaders: hasHeaders), $0.count) })
    }

    /// Accepts the next part of a batch's input, once. A repeated part is answered, but adds nothing.
    /// - Parameters:
    ///   - progress: How far the batch has been accepted. It moves on.
    ///   - closing: The input ends here. The batch is complete when its jobs have ended.
    ///   - delay: No worker claims the jobs before this time has passed.
    /// - Returns: The jobs of the queue that have not ended, for producers that do not want to run ahead.
    package func enqueue(
        _ chunk: Chunk, of progress: inout BatchProgress, closing: Bool = false, delay: Duration = .zero
    ) async throws(StateError) -> Int {
        guard delay >= .zero, delay <= Self.longestDelay else { throw .invalid("A delay is 0 to 365 days.") }
        var open = 0
        // The home partition is the last. While no server loses data, all partitions have what the home partition has accepted.
        for partition in cluster.partitions.reversed() {
            let (index, part) = (partition.index, chunk.parts[partition.index])
            let before = progress.offsets[index]
            if part.jobs == 0, !closing, index > 0 || chunk.end <= before { continue }
            let answer = try await accept(
                part.blocks, jobs: part.jobs, batch: progress, from: before, to: max(before, chunk.end), closing: closing, delay: delay,
                in: partition)
            progress.offsets[index] = answer.offset
            progress.totals[index] = answer.total
            open += answer.open
        }
        if closing { progress.state = .closed }
        return open
    }

    /// Packs rows and has them accepted.
    package func enqueue(
        _ jobs: [NumberedJob], to end: Int, of progress: inout BatchProgress, closing: Bool = false, delay: Duration = .zero
    ) async throws(StateError) -> Int {
        try await enqueue(pack(jobs, to: end, of: progress), of: &progress, closing: closing, delay: delay)
    }

    private func accept(
        _ blocks: [[UInt8]], jobs: Int, batch: BatchProgress, from before: Int, to end: Int, closing: Bool, delay: Duration,
        in partition: Partition
    ) async throws(StateError) -> (offset: Int, total: Int, open: Int) {
        let arguments: [RedisArgument] =
            [
                .integer(batch.number), .string(batch.name), .integer(before), .integer(end), .integer(closing ? 1 : 0),
                .integer(delay.wholeMilliseconds),
                .integer(jobs),
            ] + blocks.map { .bytes($0) }
        return try await persistently {
            let fields = try await run(cluster.scripts.enqueue, in: partition, arguments).fields(4, of: "enqueue")
            let answer = (offset: try fields[0].asInteger(), total: try fields[1].asInteger(), open: try fields[2].asInteger())
            switch try fields[3].asString() {
            case "none": throw StateError.batchLost(accepted: batch.total)
            case _ where answer.offset >= end: return answer
            case "cancelled": throw StateError.batchCancelled
            case "closed": throw StateError.batchClosed
            // The partition has less than it had answered.
            case _ where answer.offset < before: throw StateError.batchLost(accepted: batch.total)
            default: return answer
            }
        }
    }

    /// Closes a batch where its input is now: no more jobs can be added. A batch that was not begun stays unknown.
    package func close(batch name: String) async throws(StateError) {
        guard try await number(ofBatch: name) != nil else { return }
        // A chunk that the producer sent before it was stopped may arrive between the two calls. Then the input ends further on, and
        // closing is tried again.
        while true {
            var progress = try await progress(of: name, from: "", BatchOptions())
            guard progress.state == .open else { return }
            _ = try await enqueue([], to: progress.offset, of: &progress, closing: true)
        }
    }
}
