internal import ClusterState
internal import FetchQueue
internal import HTTPEngine
internal import RedisClient

/// Puts URLs into a queue, chunk by chunk, and remembers what it could not use.
///
/// The batch's offset in Redis advances with each accepted chunk. A producer that starts again on the same input with the same
/// batch skips what is accepted already.
package struct Producer: ~Copyable {
    private let queue: FetchQueue
    private let batch: String
    private var chunk: [(id: URLID, url: String)] = []
    private var accepted: Int
    private var position = 0

    package private(set) var summary = EnqueueSummary()

    /// URLs sent in one call: enough to make the round trip cheap, few enough that no other client waits long.
    private static let chunkSize = 1000

    init(_ queue: FetchQueue, batch: String) async throws(RedisError) {
        self.queue = queue
        self.batch = batch
        let progress = try await queue.progress(ofBatch: batch)
        accepted = progress.offset
        summary.added = progress.added
        summary.repeated = progress.repeated
    }

    /// Takes the next line of the input.
    package mutating func add(_ text: [UInt8], from place: EnqueueSummary.Place) async throws(ClusterError) {
        position += 1
        do throws(URLRejection) {
            let url = try CanonicalURL(bytes: text)
            guard position > accepted, let id = URLID(url.id) else { return }
            chunk.append((id: id, url: String(decoding: text, as: UTF8.self)))
        } catch {
            summary.refuse(place, error.description)
        }
        if chunk.count == Self.chunkSize { try await send() }
    }

    /// Notes a line that is no URL for a reason of its own.
    package mutating func refuse(_ place: EnqueueSummary.Place, _ reason: String) {
        position += 1
        summary.refuse(place, reason)
    }

    /// Sends what is left. The input is at its end.
    package mutating func finish() async throws(ClusterError) {
        try await send()
    }

    private mutating func send() async throws(ClusterError) {
        guard !chunk.isEmpty else { return }
        let progress: BatchProgress
        do throws(RedisError) {
            progress = try await queue.enqueue(chunk, batch: batch, from: accepted, to: position)
        } catch {
            throw ClusterError(error)
        }
        // Behind us, the batch is not the one we began: what it holds now says nothing of what was accepted.
        guard progress.offset >= position else {
            throw ClusterError(
                .unavailable, "The queue was emptied while URLs were being added to it, or Redis has lost data. Run the command again.")
        }
        accepted = progress.offset
        summary.added = progress.added
        summary.repeated = progress.repeated
        chunk.removeAll(keepingCapacity: true)
    }
}
