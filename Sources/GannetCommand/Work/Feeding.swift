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

    /// An input up to its first URL.
    struct Beginning {
        var rows: AllRows
        /// The rows in front of the first URL, which are no URLs.
        var refused = RefusedRows()
        /// The rows with the first URL; nil where there is none.
        var first: [Row]?
    }

    /// Reads up to the first URL, so that an input without one begins no batch.
    static func begin(_ input: InputOptions, _ rows: InputRows?, _ headers: RequestHeaders) async throws -> Beginning {
        var beginning = Beginning(rows: AllRows(input.urls, rows))
        while let batch = try await beginning.rows.next() {
            guard beginning.refused.add(all: batch, headers) else {
                beginning.first = batch
                break
            }
        }
        return beginning
    }

    /// An input that was not fed to its end, or whose jobs no replica has confirmed.
    struct Stopped: Error {
        /// The URLs that had been accepted until then, and the refused rows.
        let summary: EnqueueSummary
        let error: any Error
    }

    /// Feeds the rows from the first URL on.
    /// - Throws: ``Stopped``.
    static func feed(_ beginning: Beginning, into producer: consuming Producer) async throws -> EnqueueSummary {
        do {
            try await feed(beginning, to: &producer)
        } catch {
            throw Stopped(summary: producer.summary, error: error)
        }
        return producer.summary
    }

    private static func feed(_ beginning: Beginning, to producer: inout Producer) async throws {
        var (rows, next) = (beginning.rows, beginning.first)
        while let batch = next {
            for row in batch { try await producer.add(row) }
            if let since = producer.waitsSince, .now - since >= longestWait { try await producer.flush() }
            next = try await rows.next(atMost: producer.waitsSince.map { longestWait - (.now - $0) })
        }
        try await producer.finish()
    }

    /// Prints each reason once, with the first rows that it holds for and the number of the others.
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
extension Run {
    struct Fed: Sendable {
        let summary: EnqueueSummary
        let checked: RecordedFolder.Checked
    }

    /// The rest of the list waits while this many jobs do.
    private static let mostOpen = 1_000_000
    private static let pause = Duration.milliseconds(500)

    /// - Parameter waiting: Keeps the rows of queued URLs; nil where nobody needs them before the manifest.
    func fillQueue(from folder: RecordedFolder, waiting: WaitingRows?) async throws -> Fed {
        /// Before the job is in the queue, so that its worker knows the row.
        func remember(_ row: Row, _ id: URLID, if isWanted: Bool) -> Bool {
            guard isWanted else { return false }
            if let expected, let digest = options.verify?.digest(in: row) { expected.expect(digest, of: id) }
            waiting?.keep(row, of: id)
            return true
        }
        // The failure of an earlier run is no answer for this one.
        var submission = options.submission
        submission.refresh = true
        submission.maximumAge = nil
        var producer = try await Producer(queue, batch: options.batch, from: "", options: submission)
        var isNamed = false
        var rows = AllRows(options.input.urls, input.rows)
        while let batch = try await rows.next() {
            for row in batch {
                try await producer.add(row) { entry in
                    let listing = folder.list(entry.id)
                    // The worker's own reading finds the error of a record that cannot be read.
                    if listing == .there { try? window?.found.note(entry.id, entry.url) }
                    return remember(row, entry.id, if: listing == .pending)
                }
            }
            try await makeRoom(&producer, folder, waiting, &isNamed)
        }
        let checked = try await folder.check()
        try Task.checkCancellation()
        if checked.broken + checked.old > 0 {
            rows = try input.again()
            while let batch = try await rows.next() {
                for row in batch { try await producer.addAgain(row) { id in remember(row, id, if: folder.wantsAgain(id)) } }
                try await makeRoom(&producer, folder, waiting, &isNamed)
            }
        }
        try await producer.finish()
        return Fed(summary: producer.summary, checked: checked)
    }

    /// Sends the rows read so far to the worker, and waits while too many jobs wait, or more than have room for their rows.
    private func makeRoom(
        _ producer: inout Producer, _ folder: RecordedFolder, _ waiting: WaitingRows?, _ isNamed: inout Bool
    ) async throws {
        try folder.rethrow()
        try await producer.flush()
        // Before the queue holds a job, nobody can see it in `gannet status`.
        if !isNamed, producer.summary.accepted > 0 {
            isNamed = true
            console.note(
                "the queue of this run is '\(identity.queue)'; 'gannet status --queue \(identity.queue)\(options.connection.reminder)' shows it."
            )
        }
        var open = producer.open
        while open > min(Self.mostOpen, waiting?.mostJobs ?? .max) {
            try await Task.sleep(for: Self.pause)
            open = try await queue.counts().open
        }
    }
}
