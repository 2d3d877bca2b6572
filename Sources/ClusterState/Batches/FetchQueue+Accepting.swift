internal import RedisClient

/// Begins and fills batches. A batch is a ledger of the accepted input.
extension FetchQueue {
    package static let longestBatchName = 256
    private static let longestSource = 8192
    package static let largestChunk = 1000
    package static let longestDelay = Duration.seconds(365 * 24 * 3600)

    /// Begins a batch. A batch that was begun before keeps its options and its source.
    /// - Throws: ``StateError/otherHeaders`` where the batch was begun with other headers: its jobs are fetched with those.
    package func begin(batch: String, from source: String = "", options: BatchOptions = .init()) async throws(StateError) -> BatchProgress {
        let progress = try await progress(of: batch, from: source, options)
        guard let headers = progress.headers, headers.areSame(as: options.headers) else { throw .otherHeaders }
        return progress
    }

    private func progress(of batch: String, from source: String, _ options: BatchOptions) async throws(StateError) -> BatchProgress {
        guard (1...Self.longestBatchName).contains(batch.utf8.count), !batch.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            throw .invalid("A batch's name has 1 to \(Self.longestBatchName) bytes and no control characters.")
        }
        guard source.utf8.count <= Self.longestSource else { throw .invalid("A batch's source has at most \(Self.longestSource) bytes.") }
        if let age = options.maximumAge, age < .zero { throw .invalid("An outcome cannot be younger than zero seconds.") }
        return try await persistently {
            let reply = try await run(
                ClusterScripts.begin,
                [
                    .string(batch), .string(source), .integer(options.priority.number), .integer(options.refresh ? 1 : 0),
                    .integer(options.maximumAge.map(\.wholeMilliseconds) ?? -1), .integer(options.deliversBodies ? 1 : 0),
                    .bytes(options.headers.bytes), .string(options.trace?.text ?? ""),
                ])
            let fields = try reply.fields(6, of: "begin")
            guard let state = BatchProgress.State(rawValue: try fields[4].asString()) else { throw RedisError.form(of: "begin") }
            return BatchProgress(
                number: try fields[0].asInteger(), source: try fields[1].asString(), offset: try fields[2].asInteger(),
                total: try fields[3].asInteger(), state: state, headers: RequestHeaders(try fields[5].asBytes()))
        }
    }

    /// Accepts the part of a batch's input between two offsets, once. A repeated part is answered, but adds nothing.
    /// - Parameters:
    ///   - closing: The input ends here. The batch is complete when its jobs have ended.
    ///   - delay: No worker claims the jobs before this time has passed.
    package func enqueue(
        _ entries: [JobEntry], batch number: Int, from offset: Int, to end: Int, closing: Bool = false, delay: Duration = .zero
    ) async throws(StateError) -> EnqueueAnswer {
        guard entries.count <= Self.largestChunk else { throw .invalid("At most \(Self.largestChunk) jobs are accepted at once.") }
        guard 0 <= offset, offset <= end, end < 1 << 53 else { throw .invalid("An input's offsets go forward from 0.") }
        guard delay >= .zero, delay <= Self.longestDelay else { throw .invalid("A delay is 0 to 365 days.") }
        var arguments: [RedisArgument] = [
            .integer(number), .integer(offset), .integer(end), .integer(closing ? 1 : 0), .integer(delay.wholeMilliseconds),
        ]
        arguments.reserveCapacity(5 + entries.count)
        for entry in entries { arguments.append(.bytes(entry.bytes)) }
        return try await persistently {
            let fields = try await run(ClusterScripts.enqueue, arguments).fields(4, of: "enqueue")
            let answer = EnqueueAnswer(offset: try fields[0].asInteger(), total: try fields[1].asInteger(), open: try fields[2].asInteger())
            let state = try fields[3].asString()
            if answer.offset >= end, state != "none" { return answer }
            switch state {
            case "none": throw StateError.unknownBatch
            case "cancelled": throw StateError.batchCancelled
            case "closed": throw StateError.batchClosed
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
            let progress = try await progress(of: name, from: "", BatchOptions())
            guard progress.state == .open else { return }
            _ = try await enqueue([], batch: progress.number, from: progress.offset, to: progress.offset, closing: true)
        }
    }
}
