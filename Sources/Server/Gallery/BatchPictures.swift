internal import Crawl
internal import FoundationEssentials
internal import GannetBase
internal import GannetFetch
internal import GannetHTTP
internal import GannetQueue
internal import Results

/// The pictures of a batch, as its ended jobs tell of them.
///
/// It reads the batch's list of ended jobs from where it stopped, and never twice. Clients that ask in the same second share one look, and
/// none waits for more than the first part of a long list. Redis keeps nothing for it.
actor BatchPictures {
    private let queue: FetchQueue
    private let number: Int
    /// The pictures that a run found in its folder; nil for other batches.
    private let found: FoundPictures?
    /// The most pictures, failures among them.
    private let most: Int

    private var pictures: [KeptPicture] = []
    private var positions: [URLID: Int32] = [:]
    private var hosts: [(name: String, url: URL?)] = []
    private var hostNumbers: [String: Int32] = [:]
    /// How much of each partition's list has been read.
    private var offsets: [Int]
    /// How many of the found pictures have been read.
    private var foundOffset = 0
    private var failed = 0
    private var waiting = 0
    /// Changes with each change of the pictures.
    private var revision = 0
    private var isCut = false
    private var isReading = false

    private var looked: ContinuousClock.Instant?
    private var look: Task<Void, any Error>?
    private var reader: Task<Void, Never>?
    private var arranged: [(order: PictureArrangement, revision: Int, cells: Cells)] = []

    /// For how long a look serves clients.
    private static let served = Duration.seconds(1)
    /// Ended jobs that are read at once, and how often a client waits for that.
    private static let chunk = 1024
    private static let chunks = 4
    private static let mostArranged = 4

    init(_ queue: FetchQueue, batch number: Int, most: Int, found: FoundPictures? = nil) {
        self.queue = queue
        self.number = number
        self.most = most
        self.found = found
        offsets = queue.cluster.partitions.map { _ in 0 }
    }

    var count: Int { pictures.count }

    /// Pictures in an order.
    private struct Cells {
        /// Places in the index.
        var places: [Int32]
        var sections: [(start: Moment?, count: Int)]
    }

    /// Some of the pictures, and how many there are of what.
    struct Page {
        var revision = 0
        var total = 0
        var failed = 0
        var waiting = 0
        var isCut = false
        /// The list of ended jobs goes on behind what has been read.
        var isReading = false
        var sections: [(start: Moment?, count: Int)] = []
        var pictures: [(picture: KeptPicture, host: String)] = []
        /// The place of the picture that was asked for; nil where it is not among these.
        var place: Int?
    }

    /// - Parameters:
    ///   - favourites: Only these pictures.
    ///   - wanted: A picture whose place is asked for.
    func page(
        _ order: PictureArrangement, of favourites: [URLID]?, first: Int, count: Int, placeOf wanted: URLID? = nil
    ) async throws -> Page {
        try await refresh()
        let cells = favourites.map { arrange(places(of: $0), order) } ?? cells(order)
        let range = min(first, cells.places.count)..<min(first + count, cells.places.count)
        return Page(
            revision: revision, total: cells.places.count, failed: failed, waiting: waiting, isCut: isCut, isReading: isReading,
            sections: cells.sections,
            pictures: cells.places[range].map { (pictures[Int($0)], hosts[Int(pictures[Int($0)].host)].name) },
            place: wanted.flatMap { positions[$0] }.flatMap { cells.places.firstIndex(of: $0) })
    }

    // MARK: Reading

    private func refresh() async throws {
        // The page shows the part that has been read; the rest is there at the next question.
        if reader != nil { return }
        if let look { return try await look.value }
        if let looked, ContinuousClock.now - looked < Self.served { return }
        let task = Task { try await self.read() }
        look = task
        defer { look = nil }
        try await task.value
        looked = .now
        if isReading { reader = Task { await self.readOn() } }
    }

    /// Reads a long list to its end.
    private func readOn() async {
        // A failure meets the next client, who looks again.
        while isReading { do { try await read() } catch { break } }
        reader = nil
    }

    private func read() async throws {
        let isFoundRead = readFound()
        guard let batch = try await queue.batches([number]).first else {
            // A run looks at its folder before its batch begins.
            guard found != nil else { throw StateError.unknownBatch }
            isReading = !isFoundRead
            return
        }
        let counts = try await queue.finishedCounts(ofBatch: number)
        waiting = max(0, batch.total - batch.done - batch.failed - batch.cancelled)
        // A list that is shorter than before is another: the queue was cleared, or Redis fell back to an older state.
        if zip(counts, offsets).contains(where: { $0 < $1 }) { forget() }
        var chunks = 0
        isReading = !isFoundRead
        for (index, partition) in queue.cluster.partitions.enumerated() {
            while offsets[index] < counts[index], !isCut {
                guard chunks < Self.chunks else {
                    isReading = true
                    return
                }
                chunks += 1
                let last = min(offsets[index] + Self.chunk, counts[index]) - 1
                let jobs = try await queue.finished(ofBatch: number, in: partition, from: offsets[index], through: last)
                guard !jobs.isEmpty else { break }
                let now = try await queue.cluster.now(in: partition)
                note(jobs, try await queue.outcomes(jobs.map(\.id), in: partition), now: now)
                offsets[index] += jobs.count
            }
        }
    }

    /// Takes the next of the found pictures. True if no more are there yet.
    private func readFound() -> Bool {
        guard let found, !isCut else { return true }
        let part = found.part(from: foundOffset, atMost: Self.chunk * Self.chunks)
        foundOffset = part.end
        for (id, content, written) in part.pictures where positions[id] == nil {
            let endedAt = Moment(millisecondsSince1970: Int64(written.timeIntervalSince1970 * 1000))
            guard let picture = KeptPicture(id, content, nil, endedAt: endedAt, host: { self.number(ofHostIn: content.url) }) else {
                continue
            }
            guard take(picture) else { break }
        }
        if part.isCut, !part.isMore { isCut = true }
        return !part.isMore || isCut
    }

    private func forget() {
        (pictures, positions, hosts, hostNumbers) = ([], [:], [], [:])
        foundOffset = 0
        offsets = offsets.map { _ in 0 }
        failed = 0
        isCut = false
        revision += 1
    }

    /// - Parameter jobs: A body that another batch was given is none of a job that was not permitted.
    private func note(_ jobs: [EndedJob], _ outcomes: [URLOutcome?], now: Int) {
        let wall = Moment.now
        for (job, outcome) in zip(jobs, outcomes) {
            guard let outcome, outcome.isNegative || !job.isDisallowed,
                let picture = KeptPicture(
                    job.id, outcome.content, outcome.failure, endedAt: wall - outcome.age(at: now),
                    host: { self.number(ofHostIn: outcome.content.url) })
            else { continue }
            guard take(picture) else { break }
        }
    }

    /// False if the index is full.
    private func take(_ picture: KeptPicture) -> Bool {
        if let known = positions[picture.id] {
            // The URL was given up before, and tried again. Or its file was there, and has been fetched once more.
            failed += (picture.failure == nil ? 0 : 1) - (pictures[Int(known)].failure == nil ? 0 : 1)
            pictures[Int(known)] = picture
        } else {
            guard pictures.count < most else {
                isCut = true
                return false
            }
            positions[picture.id] = Int32(pictures.count)
            pictures.append(picture)
            failed += picture.failure == nil ? 0 : 1
        }
        revision += 1
        return true
    }

    private func number(ofHostIn url: String) -> Int32 {
        let name = (try? CanonicalURL(url).host) ?? ""
        if let known = hostNumbers[name] { return known }
        let number = Int32(hosts.count)
        hosts.append((name, URL(string: "http://\(name)/")))
        hostNumbers[name] = number
        return number
    }

    // MARK: Arranging

    /// Made anew only when the pictures have changed.
    private func cells(_ order: PictureArrangement) -> Cells {
        if let known = arranged.first(where: { $0.order == order && $0.revision == revision }) { return known.cells }
        let cells = arrange(Array(0..<Int32(pictures.count)), order)
        arranged.removeAll { $0.order == order }
        arranged = [(order, revision, cells)] + arranged.prefix(Self.mostArranged - 1)
        return cells
    }

    private func places(of favourites: [URLID]) -> [Int32] { favourites.compactMap { positions[$0] }.sorted() }

    private static let nowhere = URL(string: "http://unknown.invalid/")

    private func arrange(_ places: [Int32], _ order: PictureArrangement) -> Cells {
        guard let nowhere = Self.nowhere else { preconditionFailure("The text is a URL.") }
        let given = places.lazy.map { place in
            let picture = self.pictures[Int(place)]
            // A place is a short text, and hosts have one URL each: a picture costs no memory of its own here.
            return Picture(
                self.hosts[Int(picture.host)].url ?? nowhere, id: String(place),
                date: Date(timeIntervalSince1970: Double(picture.endedAt.millisecondsSince1970) / 1000),
                byteCount: picture.failure == nil ? Int64(picture.bytes) : nil)
        }
        let contents = PictureContents(given, order)
        return Cells(
            places: contents.pictures.compactMap { Int32($0.id) },
            sections: contents.sections.map { section in
                let start = section.start.map { Moment(millisecondsSince1970: Int64($0.timeIntervalSince1970 * 1000)) }
                return (start, section.pictures.count)
            })
    }
}
