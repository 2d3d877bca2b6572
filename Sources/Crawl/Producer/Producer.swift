internal import GannetHTTP
package import GannetQueue
package import Lists

/// Puts URLs into a queue, chunk by chunk, and remembers the rows that are no URLs.
///
/// While a chunk is on its way, the rows of the next are read and packed. There is one chunk on its way at most, because each names the end of the one
/// before.
///
/// The batch's offset in Redis advances with each accepted chunk. A producer that starts again on the same input with the same
/// batch skips what is accepted already.
package struct Producer: ~Copyable {
    private let queue: FetchQueue
    private let delay: Duration
    private let headers: RequestHeaders
    private let durability: Durability
    private let replicaPatience: Duration
    private var progress: BatchProgress
    private var chunk: [FetchQueue.NumberedJob] = []
    private var chunkBytes = 0
    private var position = 0
    private var onItsWay: Task<Result<(BatchProgress, open: Int), StateError>, Never>?

    /// When the first of the rows that are not sent yet was taken; `nil` where there are none.
    package private(set) var waitsSince: ContinuousClock.Instant?

    package private(set) var summary = EnqueueSummary()

    /// Jobs of the queue that had not ended when it accepted the last chunk.
    package private(set) var open = 0

    /// How many jobs had been accepted before this producer came.
    package let acceptedBefore: Int

    /// The name of the input that the batch was begun with.
    package var origin: String { progress.source }

    /// The bytes of URLs in one call. A larger number would make other clients of Redis wait, and a smaller one would cost more round trips.
    private static let chunkBytes = 1 << 20

    /// How long a producer usually waits at its end for replicas.
    package static let replicaPatience = Duration.seconds(10)

    /// A producer for one batch of a queue. A batch that was begun before goes on where it stopped.
    /// - Parameter refused: The rows that the caller has read and refused. The producer's first row comes behind them.
    package init(
        _ queue: FetchQueue, batch: String, from source: String, options: BatchOptions = .init(), durability: Durability = .primary,
        replicaPatience: Duration = replicaPatience, behind refused: RefusedRows = RefusedRows()
    ) async throws(StateError) {
        try await queue.cluster.checkEviction()
        if durability == .replicated { try await queue.checkRightToWait() }
        let begun = try await queue.begin(batch: batch, from: source, options: options)
        // The input of a cancelled batch would be skipped, as if its rows had been accepted.
        guard begun.state != .cancelled else { throw .batchCancelled }
        self.queue = queue
        progress = begun
        delay = options.delay
        headers = options.headers
        self.durability = durability
        self.replicaPatience = replicaPatience
        acceptedBefore = begun.total
        position = refused.count
        summary = refused.summary
        summary.accepted = begun.total
    }

    deinit {
        onItsWay?.cancel()
    }

    /// Takes the next row of the input.
    /// - Parameter isWanted: Called for each URL. It returns false for a URL that should not become a job.
    package mutating func add(_ row: Row, where isWanted: (JobEntry) -> Bool = { _ in true }) async throws(StateError) {
        position += 1
        switch JobEntry.of(row, headers) {
        case .success(let entry): if position > progress.resumesBehind, isWanted(entry) { take(entry) }
        case .failure(let refusal): summary.refuse(row.place, refusal.reason)
        }
        if isFull { try await send(closing: false) }
    }

    /// Takes a row of an input that is read once more. Invalid rows were counted the first time.
    package mutating func addAgain(_ row: Row, where isWanted: (URLID) -> Bool) async throws(StateError) {
        position += 1
        if case .success(let entry) = JobEntry.of(row, headers), isWanted(entry.id) { take(entry) }
        if isFull { try await send(closing: false) }
    }

    /// Sends the rows taken so far, because workers wait for them.
    package mutating func flush() async throws(StateError) {
        if !chunk.isEmpty { try await send(closing: false) }
        try await hear()
    }

    /// Sends the last rows, and says that the input is at its end. Where replicas are to have the jobs too, it waits for them.
    package mutating func finish() async throws(StateError) {
        try await send(closing: true)
        try await hear()
        if durability == .replicated { try await queue.confirmReplicas(of: progress, within: replicaPatience) }
    }

    private var isFull: Bool { chunk.count == FetchQueue.largestChunk || chunkBytes >= Self.chunkBytes }

    private mutating func take(_ entry: JobEntry) {
        if chunk.isEmpty { waitsSince = .now }
        chunk.append((entry, row: position))
        chunkBytes += entry.url.utf8.count
    }

    private mutating func send(closing: Bool) async throws(StateError) {
        let packed = try queue.pack(chunk, to: position, of: progress)
        try await hear()
        let (queue, delay, before) = (queue, delay, progress)
        onItsWay = Task {
            var progress = before
            do throws(StateError) {
                let open = try await queue.enqueue(packed, of: &progress, closing: closing, delay: delay)
                return .success((progress, open))
            } catch {
                return .failure(error)
            }
        }
        chunk.removeAll(keepingCapacity: true)
        chunkBytes = 0
        waitsSince = nil
    }

    /// Waits until Redis has the chunk that is on its way.
    private mutating func hear() async throws(StateError) {
        guard let sending = onItsWay else { return }
        onItsWay = nil
        (progress, open) = try await withTaskCancellationHandler {
            await sending.value
        } onCancel: {
            sending.cancel()
        }.get()
        summary.accepted = progress.total
    }
}

/// The rows at the beginning of an input that are no URLs.
package struct RefusedRows: Sendable {
    package private(set) var count = 0
    package private(set) var summary = EnqueueSummary()

    package init() {}

    /// Adds these rows, if none of them becomes a job. False where one does.
    package mutating func add(all rows: some Collection<Row>, _ headers: RequestHeaders = .none) -> Bool {
        var all = self
        for row in rows {
            guard case .failure(let refusal) = JobEntry.of(row, headers) else { return false }
            all.count += 1
            all.summary.refuse(row.place, refusal.reason)
        }
        self = all
        return true
    }
}

/// How many rows of an input became jobs, and the first rows that did not.
package struct EnqueueSummary: Sendable, Equatable {
    /// Rows that became jobs.
    package var accepted = 0
    /// Rows that are not URLs.
    package var invalid = 0
    /// The first of the rows that are not URLs.
    package var complaints: [Complaint] = []
    /// Why rows are not URLs. Only the first twenty reasons are in the list.
    package private(set) var reasons: [Reason] = []

    package init() {}

    package struct Complaint: Sendable, Equatable {
        package let place: Row.Place
        package let reason: String
    }

    /// A reason, the first rows that it holds for, and the number of all these rows.
    package struct Reason: Sendable, Equatable {
        package let reason: String
        package fileprivate(set) var first: [Row.Place]
        package fileprivate(set) var count: Int
    }

    /// The bound for a file of ten million lines that are not URLs.
    static let mostComplaints = 20
    private static let mostPlaces = 3

    fileprivate mutating func refuse(_ place: Row.Place, _ reason: String) {
        invalid += 1
        if complaints.count < Self.mostComplaints { complaints.append(Complaint(place: place, reason: reason)) }
        if let index = reasons.firstIndex(where: { $0.reason == reason }) {
            reasons[index].count += 1
            if reasons[index].first.count < Self.mostPlaces { reasons[index].first.append(place) }
        } else if reasons.count < Self.mostComplaints {
            reasons.append(Reason(reason: reason, first: [place], count: 1))
        }
    }
}

extension JobEntry {
    /// Why a row becomes no job.
    package struct Refusal: Error {
        let reason: String
    }

    /// The job of a row, which is fetched with these headers.
    package static func of(_ row: Row, _ headers: RequestHeaders = .none) -> Result<JobEntry, Refusal> {
        switch row.content {
        case .invalid(let problem): return .failure(Refusal(reason: problem.description))
        case .url(let text):
            do { return .success(try JobEntry(row: text, headers: headers)) } catch {
                // A word of the command line may be a host's name.
                guard case .argument = row.place, (error as? RequestRejection) == .noScheme, text.contains(UInt8(ascii: ".")),
                    (try? CanonicalURL(bytes: (Array("https://".utf8) + text)[...])) != nil
                else { return .failure(Refusal(reason: "\(error)")) }
                return .failure(Refusal(reason: "\(error), such as https://\(String(decoding: text, as: UTF8.self))"))
            }
        }
    }
}
