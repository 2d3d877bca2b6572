package import ClusterState
internal import HTTPEngine
internal import RedisClient

/// Puts URLs into a queue, chunk by chunk, and remembers what it could not use.
///
/// The batch's offset in Redis advances with each accepted chunk. A producer that starts again on the same input with the same
/// batch skips what is accepted already.
package struct Producer: ~Copyable {
    private let queue: FetchQueue
    private let batch: Int
    private let delay: Duration
    private let headers: ExtraHeaders
    private var chunk: [JobEntry] = []
    private var accepted: Int
    private var position = 0

    package private(set) var summary = EnqueueSummary()

    /// Jobs of the queue that had not ended when it last heard of this producer.
    package private(set) var open = 0

    /// What the batch was made from when it was begun, and how many jobs of it had been accepted before this producer came.
    package let origin: String
    package let acceptedBefore: Int

    /// URLs sent in one call: enough to make the round trip cheap, few enough that no other client waits long.
    private static let chunkSize = 1000

    init(
        _ queue: FetchQueue, batch: String, from source: String, options: SubmissionOptions = .init()
    ) async throws(StateError) {
        self.queue = queue
        let progress = try await queue.begin(batch: batch, from: source, options: options.ofBatch)
        // The same input again would look as if it had been accepted.
        guard progress.state != .cancelled else { throw .batchCancelled }
        self.batch = progress.number
        delay = options.delay
        headers = options.headers
        origin = progress.source
        acceptedBefore = progress.total
        accepted = progress.offset
        summary.accepted = progress.total
    }

    /// Takes the next row of the input.
    /// - Parameter isWanted: Asked of each URL; where it is not wanted it becomes no job.
    package mutating func add(
        _ text: ArraySlice<UInt8>, from place: EnqueueSummary.Place, where isWanted: (URLID) -> Bool = { _ in true }
    ) async throws(ClusterError) {
        position += 1
        do throws(RowRefusal) {
            let entry = try JobEntry(row: text, headers: headers)
            if position > accepted, isWanted(entry.id) { chunk.append(entry) }
        } catch {
            summary.refuse(place, error.description)
        }
        if chunk.count == Self.chunkSize { try await send(closing: false) }
    }

    /// Takes a row of an input that is gone through once more; what is to be said of invalid rows has been said.
    package mutating func addAgain(_ text: ArraySlice<UInt8>, where isWanted: (URLID) -> Bool) async throws(ClusterError) {
        position += 1
        if let entry = try? JobEntry(row: text, headers: headers), isWanted(entry.id) { chunk.append(entry) }
        if chunk.count == Self.chunkSize { try await send(closing: false) }
    }

    /// Sends what has been taken, for those who wait for it.
    package mutating func flush() async throws(ClusterError) {
        if !chunk.isEmpty { try await send(closing: false) }
    }

    /// Notes a line that is no URL for a reason of its own.
    package mutating func refuse(_ place: EnqueueSummary.Place, _ reason: String) {
        position += 1
        summary.refuse(place, reason)
    }

    /// Sends what is left, and that it is all: the input is at its end.
    package mutating func finish() async throws(ClusterError) {
        try await send(closing: true)
    }

    private mutating func send(closing: Bool) async throws(ClusterError) {
        let answer: EnqueueAnswer
        do throws(StateError) {
            answer = try await queue.enqueue(
                chunk, batch: batch, from: accepted, to: max(accepted, position), closing: closing, delay: delay)
            // Behind us, the batch is not the one we began: what it holds now says nothing of what was accepted.
            guard answer.offset >= position else { throw .unknownBatch }
        } catch {
            throw ClusterError(error)
        }
        accepted = answer.offset
        summary.accepted = answer.total
        open = answer.open
        chunk.removeAll(keepingCapacity: true)
    }
}

extension BatchOptions {
    /// Workers put bodies into a folder, the only store there is: a URL that was fetched before this job's turn has to be looked for
    /// there, and fetched again where its body is not.
    static let fromProducer = {
        var options = BatchOptions()
        options.deliversBodies = true
        return options
    }()
}
