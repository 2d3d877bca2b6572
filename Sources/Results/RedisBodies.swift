internal import GannetBase
internal import GannetFetch
package import GannetHTTP
package import GannetQueue
package import GannetRedisClient

/// Stores bodies in Redis by their digest, within a limit of memory. Workers that have no common folder use it.
///
/// The least recently used body makes room for a new one, but none of a batch that nobody has exported. A job that needs a body that is gone
/// fetches it again.
package final class RedisBodies: JobOutput {
    private let cluster: ClusterState
    private let store: BlobStore
    /// One for each part of the store: the server of one part may be away, and the bodies of other parts do not wait for it.
    private let puts: [Gathering<Blob, BlobPutAnswer, StateError>]
    private let looks: [Gathering<Entry, Bool, StateError>]

    private typealias Entry = (digest: [UInt8], size: Int, batch: HoldingBatch?)

    private let persistently: Persistence
    private let patienceForRoom: Duration
    private let temporaryFolder: String
    private let gate = LargeBodyGate()
    private let calm: Duration

    /// Bodies that wait for room.
    private let waiting = Mutex(Waiting())
    private struct Waiting {
        var count = 0
        var isTold = false
        /// It was told that they wait for an export.
        var isHeld = false
        /// This task begins when no body waits any more. After a calm time it tells that there is room.
        var end: Task<Void, Never>?
        var tell: (@Sendable (StoreRoom) -> Void)?
        /// The batches that held the bodies of the store at the last look.
        var batches: [HoldingBatch] = []
        var lookedAt: ContinuousClock.Instant?
    }

    private static let pauseWhenFull = Duration.milliseconds(500)
    private static let lookPause = Duration.seconds(10)

    /// - Parameters:
    ///   - connection: Exchanges do not go through it, because a large body would delay a worker's renewals.
    ///   - limit: Bytes of Redis' memory, keys and index included.
    ///   - temporaryFolder: The folder for large bodies until they are complete.
    ///   - patience: How long a call waits for a Redis that is away, and a body for room. A call waits for a part of a cluster as long as it takes.
    ///   - calm: How long no body waits for room until it is told that bodies wait no more. Where bodies of different sizes come, small ones
    ///     find room between large ones that wait. The end of a wait for an export is told at once.
    ///   - outage: Called when a call begins to wait for Redis, and when Redis is back.
    package init(
        _ cluster: ClusterState, over connection: RedisConnection, limit: Int, temporaryFolder: String, patience: Duration,
        calm: Duration = .seconds(5), outage: OutageListener? = nil
    ) {
        self.calm = calm
        self.cluster = cluster
        let store = BlobStore(cluster, over: connection)
        self.store = store
        puts = (0..<store.partCount).map { _ in
            Gathering(bytes: { $0.bytes.count }) { bodies throws(StateError) in try await store.put(bodies, limit: limit) }
        }
        looks = (0..<store.partCount).map { _ in
            Gathering(bytes: { $0.digest.count }) { entries throws(StateError) in
                try await store.contains(entries).map { .success($0) }
            }
        }
        // While one part is away the worker goes on with the others. Where all are away, the worker's exchanges end it, and with it this wait.
        persistently = Persistence(patience: store.partCount > 1 ? Persistence.endless : patience, listener: outage)
        patienceForRoom = patience
        self.temporaryFolder = temporaryFolder
    }

    package func close() {
        waiting.withLock { $0.end?.cancel() }
    }

    package var bodyDestination: BodyDestination { .memory(upTo: LargeBodyGate.smallestLarge, thenFileIn: temporaryFolder) }

    package func wireRecord(for job: Job) -> WireRecord? {
        job.keepsWire ? WireRecord(fileIn: temporaryFolder, beyond: LargeBodyGate.smallestLarge) : nil
    }

    package func found(_ job: Job) -> HeldBody? { nil }

    package func held(_ outcome: URLOutcome, for job: Job) async throws -> HeldBody? {
        guard let digest = outcome.content.digest else { return nil }
        let batch = job.holdingBatch
        if job.keepsWire {
            guard let place = outcome.content.exchanges,
                try await isThere((place.digest, place.size, batch))
            else { return nil }
        }
        if outcome.content.size == 0 { return HeldBody(file: nil) }
        return try await isThere((digest, outcome.content.size, batch)) ? HeldBody(file: nil) : nil
    }

    private func isThere(_ entry: Entry) async throws -> Bool {
        try await persistently { () async throws in try await looks[store.part(of: entry.digest)](entry) }
    }

    package func keep(_ wire: WireRecord, body: SHA256Digest?, of job: Job) async throws -> ExchangesPlace? {
        guard let bytes = try wire.packed(body: body, atMost: ExchangesPlace.most) else { return nil }
        wire.clear()
        let placement = try await gate.withRoom(for: bytes.count) {
            try await place(bytes, digest: SHA256Digest(of: bytes), of: job)
        }
        guard case .held = placement else { return nil }
        return ExchangesPlace(bytes)
    }

    package func place(_ download: Download, digest: SHA256Digest, of job: Job) async throws -> Placement {
        switch download.body {
        case .bytes(let bytes): return try await place(bytes, digest: digest, of: job)
        case .file(let path, _):
            defer { unlink(path) }
            let count = Int(download.byteCount)
            return try await gate.withRoom(for: count) {
                guard let bytes = Descriptor.contents(ofFile: path, count: count) else {
                    throw StorageFailure.refused("temporary file", path, "read")
                }
                return try await place(bytes, digest: digest, of: job)
            }
        }
    }

    package var notesEnds: Bool { false }

    package func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) {}

    package func watchRoom(_ tell: @escaping @Sendable (StoreRoom) -> Void) { waiting.withLock { $0.tell = tell } }

    private func place(_ bytes: [UInt8], digest: SHA256Digest, of job: Job) async throws -> Placement {
        if bytes.isEmpty { return .held(HeldBody(file: nil)) }
        let body = Blob(digest: digest.bytes, bytes: bytes, for: job.holdingBatch)
        var (answer, room) = try await put(body)
        if answer == .full || answer == .held { answer = try await putOnceThereIsRoom(body, after: answer, room) }
        switch answer {
        case .stored, .present: return .held(HeldBody(file: nil))
        case .tooLarge:
            let sentence = "its \(bytes.count) bytes do not fit into the store for bodies in Redis, which '--cache-limit' makes larger"
            return .refused(FetchError(kind: .tooLarge, url: job.url, detail: sentence))
        case .full, .held:
            throw StorageFailure(
                "The store for bodies in Redis is full, and all its bodies are in use. Raise its limit, or store bodies in a folder.")
        }
    }

    private func put(_ body: Blob) async throws -> (BlobPutAnswer, StoreRoom) {
        try await persistently { () async throws -> (BlobPutAnswer, StoreRoom) in
            do {
                return (try await puts[store.part(of: body.digest)](body), .limitReached)
            } catch let error as StateError where error.redis?.kind == .outOfMemory {
                // Redis itself is full. Its own bodies make room before anything else stands still.
                return (.full, .full(server: error.redis?.server ?? ""))
            }
        }
    }

    /// Waits while the store or its Redis is full, and says so at once.
    /// - Parameter room: Why there is none.
    private func putOnceThereIsRoom(_ body: Blob, after answer: BlobPutAnswer, _ room: StoreRoom) async throws -> BlobPutAnswer {
        noteWaiting(1, answer == .held ? .held(try await holdingBatches()) : room)
        defer { noteWaiting(-1, room) }
        // Somebody has to export a batch, whenever that is.
        var (answer, deadline) = (answer, ContinuousClock.now + patienceForRoom)
        while ContinuousClock.now < deadline {
            try await Task.sleep(for: Self.pauseWhenFull)
            answer = try await put(body).0
            if answer == .held {
                deadline = .now + patienceForRoom
                noteWaiting(0, .held(try await holdingBatches()))
            } else if answer != .full {
                return answer
            }
        }
        return answer
    }

    /// The batches in the way, looked at now and then. A batch that its queue has forgotten holds nothing any longer.
    private func holdingBatches() async throws -> [HoldingBatch] {
        let (isDue, known) = waiting.withLock { waiting in
            let isDue = waiting.batches.isEmpty || waiting.lookedAt.map { ContinuousClock.now - $0 > Self.lookPause } ?? true
            if isDue { waiting.lookedAt = .now }
            return (isDue, waiting.batches)
        }
        guard isDue else { return known }
        let batches = try await persistently { () async throws in
            try await store.releaseForgotten(in: cluster)
            return try await store.holdingBatches()
        }
        waiting.withLock { $0.batches = batches }
        return batches
    }

    private func noteWaiting(_ change: Int, _ room: StoreRoom) {
        waiting.withLock { waiting in
            waiting.count += change
            waiting.end?.cancel()
            waiting.end = nil
            if waiting.count > 0 {
                if !waiting.isTold || room.isHeld && !waiting.isHeld { Self.tell(room, &waiting) }
            } else if waiting.isHeld {
                // An export makes room for many bodies, and the worker takes no jobs until it hears of that.
                Self.tell(.there, &waiting)
            } else {
                waiting.end = Task { await endWaitingOnceCalm() }
            }
        }
    }

    private func endWaitingOnceCalm() async {
        guard (try? await Task.sleep(for: calm)) != nil else { return }
        waiting.withLock { waiting in
            if waiting.count == 0, waiting.isTold { Self.tell(.there, &waiting) }
        }
    }

    /// The listener is called under the lock, so that the last call it gets tells the present state.
    private static func tell(_ room: StoreRoom, _ waiting: inout Waiting) {
        (waiting.isTold, waiting.isHeld) = (room != .there, room.isHeld)
        waiting.tell?(room)
    }
}

extension DownloadedBody {
    /// Removes the temporary file of a body that is not needed.
    package func discard() {
        if case .file(let path, _) = self { unlink(path) }
    }
}

/// Lets two large bodies at a time pass to or from Redis, because each is in memory as a whole.
struct LargeBodyGate: Sendable {
    /// The least size of a large body in bytes.
    static let smallestLarge = 1 << 20

    private let gate = DownloadGate(places: 2)

    /// Calls `body` when there is room in memory for this number of bytes.
    func withRoom<Value: Sendable>(for bytes: Int, _ body: () async throws -> Value) async throws -> Value {
        guard bytes > Self.smallestLarge else { return try await body() }
        guard await gate.enter() else { throw StateError.redis(RedisError(.cancelled)) }
        defer { gate.leave() }
        return try await body()
    }
}

extension Job {
    /// The batch that its body stays for.
    fileprivate var holdingBatch: HoldingBatch? {
        keeping == .cache ? nil : batchName.map { HoldingBatch(queue: queue, batch: $0) }
    }
}
