import Crawl
import GannetQueue
import Lists
import Results

/// Reads a command's input into a producer.
enum Feeding {
    /// Opens the input, so that a wrong path is an error before anything is started.
    static func open(_ input: InputOptions) throws -> InputRows? {
        guard let source = input.source else { return nil }
        return try InputRows(source, input.list)
    }

    /// How long a row of a slow input waits for others to be sent with.
    private static let longestWait = Duration.seconds(1)

    /// The rows in front of an input's first URL, which are no URLs.
    struct Beginning {
        var refused = RefusedRows()
        /// All URLs of the command line are refused.
        var isBehindArguments = false
        /// The rows with the first URL, where no URL is on the command line.
        var rows: RowBatch?
        var hasURL = true
    }

    /// Reads up to the first URL, so that an input without one begins no batch.
    static func begin(_ input: InputOptions, _ rows: InputRows?, _ headers: RequestHeaders) async throws -> Beginning {
        var beginning = Beginning()
        guard beginning.refused.add(all: Row.arguments(input.urls), headers) else { return beginning }
        beginning.isBehindArguments = true
        while let batch = try await rows?.nextBatch() {
            guard beginning.refused.add(all: batch, headers) else {
                beginning.rows = batch
                return beginning
            }
        }
        // A reader that was cancelled looks like an input that has ended; only the task knows.
        try Task.checkCancellation()
        beginning.hasURL = false
        return beginning
    }

    /// An input that was not fed to its end, or whose jobs no replica has confirmed.
    struct Stopped: Error {
        /// The URLs that had been accepted until then, and the refused rows.
        let summary: EnqueueSummary
        let error: any Error
    }

    /// Feeds the URLs of the command line, then the input's rows, from the first URL on.
    /// - Throws: ``Stopped``.
    static func feed(
        _ input: InputOptions, _ rows: InputRows?, from beginning: Beginning, into producer: consuming Producer
    ) async throws -> EnqueueSummary {
        do {
            try await feed(input, rows, from: beginning, to: &producer)
        } catch {
            throw Stopped(summary: producer.summary, error: error)
        }
        return producer.summary
    }

    private static func feed(
        _ input: InputOptions, _ rows: InputRows?, from beginning: Beginning, to producer: inout Producer
    ) async throws {
        if !beginning.isBehindArguments { for row in Row.arguments(input.urls) { try await producer.add(row) } }
        var first = beginning.rows
        while true {
            let read: RowBatch?
            if let batch = first.take() {
                read = batch
            } else {
                read = try await rows?.nextBatch(atMost: producer.waitsSince.map { longestWait - (.now - $0) })
            }
            guard let batch = read else { break }
            for row in batch { try await producer.add(row) }
            if let since = producer.waitsSince, .now - since >= longestWait { try await producer.flush() }
        }
        // A reader that was cancelled looks like an input that has ended; only the task knows.
        try Task.checkCancellation()
        try await producer.finish()
    }

    /// Prints each reason once, with the first rows that it holds for and the number of the others.
    /// - Parameter rows: The rows that were fed.
    static func complain(about summary: EnqueueSummary, of rows: InputRows?, _ console: Console) {
        if rows?.listsSitemaps == true {
            console.warn(
                "the input is an index of sitemaps. These are fetched as they are, and not the pages that they list: "
                    + "for these, give each fetched sitemap to '-i'.")
        }
        for reason in summary.reasons {
            var places = reason.first.map(\.description)
            let others = reason.count - places.count
            if others > 0 { places.append(Amounts.count(others, "more row")) }
            let shown = places.count > 1 ? places.dropLast().joined(separator: ", ") + " and " + (places.last ?? "") : places.joined()
            console.complain("\(shown): not a URL that can be fetched: \(reason.reason)")
        }
        let rest = summary.invalid - summary.reasons.reduce(0) { $0 + $1.count }
        if rest > 0 { console.complain("… and \(Amounts.count(rest, "more row")) with other reasons") }
    }
}

/// Fills a run's queue while a worker empties it: with URLs that are not in the folder, then with URLs whose files are missing or changed.
struct RunFeeding: Sendable {
    let queue: FetchQueue
    let folder: RecordedFolder
    let input: RunInput
    let batch: String
    let submission: BatchOptions
    /// The digests that bodies must have; nil where they may be any.
    let expected: (option: VerifyOption, digests: ExpectedDigests)?
    /// Keeps the rows of queued URLs; nil where nobody needs them before the manifest.
    let waiting: WaitingRows?
    /// Hears of the pictures that are there already; nil where nobody can look at the run.
    let found: FoundPictures?
    /// Called once, when the queue has accepted the first URL.
    let onFirst: @Sendable () -> Void
    /// The rest of the list waits while this many jobs do.
    var mostWaiting = 1_000_000
    private var hasFirst = false

    init(
        queue: FetchQueue, folder: RecordedFolder, input: RunInput, batch: String, submission: BatchOptions,
        expected: (option: VerifyOption, digests: ExpectedDigests)?, waiting: WaitingRows?, found: FoundPictures?,
        onFirst: @escaping @Sendable () -> Void
    ) {
        self.queue = queue
        self.folder = folder
        self.input = input
        self.batch = batch
        self.submission = submission
        self.expected = expected
        self.waiting = waiting
        self.found = found
        self.onFirst = onFirst
    }

    struct Fed: Sendable {
        let summary: EnqueueSummary
        let checked: RecordedFolder.Checked
    }

    private static let pause = Duration.milliseconds(500)

    mutating func run() async throws -> Fed {
        // The failure of an earlier run is no answer for this one.
        var options = submission
        options.refresh = true
        options.maximumAge = nil
        var producer = try await Producer(queue, batch: batch, from: "", options: options)
        for row in Row.arguments(input.urls) { try await producer.add(row, where: { wants($0, row) }) }
        while let batch = try await input.rows?.nextBatch() {
            for row in batch { try await producer.add(row, where: { wants($0, row) }) }
            try await makeRoom(&producer)
        }
        // A reader that was cancelled looks like an input that has ended; only the task knows.
        try Task.checkCancellation()
        try await makeRoom(&producer)
        let checked = try await folder.check()
        try Task.checkCancellation()
        if checked.broken + checked.old > 0 { try await feedAgain(&producer) }
        try await producer.finish()
        look(at: producer.summary)
        return Fed(summary: producer.summary, checked: checked)
    }

    private func wants(_ entry: JobEntry, _ row: Row) -> Bool {
        let listing = folder.list(entry.id)
        // The worker's own reading finds the error of a record that cannot be read.
        if listing == .there { try? found?.note(entry.id, entry.url) }
        if listing == .pending { remember(row, entry.id) }
        return listing == .pending
    }

    private func wantsAgain(_ id: URLID, _ row: Row) -> Bool {
        let isWanted = folder.wantsAgain(id)
        if isWanted { remember(row, id) }
        return isWanted
    }

    /// Before the job is in the queue, so that its worker knows the row.
    private func remember(_ row: Row, _ id: URLID) {
        if let expected, let digest = expected.option.digest(in: row) { expected.digests.expect(digest, of: id) }
        waiting?.keep(row, of: id)
    }

    /// Adds the URLs whose files are missing or changed.
    private mutating func feedAgain(_ producer: inout Producer) async throws {
        for row in Row.arguments(input.urls) { try await producer.addAgain(row, where: { wantsAgain($0, row) }) }
        let rows = try input.again()
        while let batch = try await rows?.nextBatch() {
            for row in batch { try await producer.addAgain(row, where: { wantsAgain($0, row) }) }
            try await makeRoom(&producer)
        }
        try Task.checkCancellation()
    }

    /// Sends the rows read so far to the worker, and waits while too many jobs wait, or more than have room for their rows.
    private mutating func makeRoom(_ producer: inout Producer) async throws {
        try folder.rethrow()
        try await producer.flush()
        look(at: producer.summary)
        var open = producer.open
        while open > min(mostWaiting, waiting?.mostJobs ?? .max) {
            try await Task.sleep(for: Self.pause)
            open = try await queue.counts().open
        }
    }

    private mutating func look(at summary: EnqueueSummary) {
        guard !hasFirst, summary.accepted > 0 else { return }
        hasFirst = true
        onFirst()
    }
}
