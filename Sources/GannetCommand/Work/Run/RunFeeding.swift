import Gannet
import URLLists

/// Fills a run's queue while it is worked on: with what is not in the folder, and then with what turned out not to be what it was.
struct RunFeeding: Sendable {
    let cluster: Cluster
    let queue: String
    let folder: RecordedFolder
    let input: RunInput
    let batch: String
    let submission: SubmissionOptions
    /// Jobs that may wait; beyond that the rest of the list does.
    var mostWaiting = 1_000_000

    /// What came of it.
    struct Fed: Sendable {
        let summary: EnqueueSummary
        let checked: RecordedFolder.Checked
    }

    private static let pause = Duration.milliseconds(500)

    /// Throws ``ClusterError``, ``CommandFailure`` or ``OutputFailure``.
    func run() async throws -> Fed {
        // What an earlier run was told of a URL, that it is not there for one, is no answer for this one.
        var options = submission
        options.refresh = true
        options.maximumAge = nil
        var producer = try await cluster.producer(queue: queue, batch: batch, from: "", options: options)
        for (index, url) in input.urls.enumerated() {
            try await producer.add(Array(url.utf8)[...], from: .argument(index + 1), where: folder.wants)
        }
        while let batch = try await input.rows?.nextBatch() {
            for row in batch {
                switch row.content {
                case .url(let bytes): try await producer.add(bytes, from: .line(row.number), where: folder.wants)
                case .invalid(let problem): producer.refuse(.line(row.number), problem.description)
                }
            }
            try await makeRoom(&producer)
        }
        // A reader that was cancelled looks like an input that has ended; only the task knows.
        try Task.checkCancellation()
        try await makeRoom(&producer)
        let checked = try await folder.check()
        try Task.checkCancellation()
        if checked.broken + checked.old > 0 { try await feedAgain(&producer) }
        try await producer.finish()
        return Fed(summary: producer.summary, checked: checked)
    }

    /// What was fetched before and is not there any more, as it was.
    private func feedAgain(_ producer: inout Producer) async throws {
        for url in input.urls { try await producer.addAgain(Array(url.utf8)[...], where: folder.wantsAgain) }
        let rows = try input.again()
        while let batch = try await rows?.nextBatch() {
            for row in batch {
                if case .url(let bytes) = row.content { try await producer.addAgain(bytes, where: folder.wantsAgain) }
            }
            try await makeRoom(&producer)
        }
        try Task.checkCancellation()
    }

    /// Has the worker know of what has been read so far, and waits where that is too much.
    private func makeRoom(_ producer: inout Producer) async throws {
        try folder.rethrow()
        try await producer.flush()
        var open = producer.open
        while open > mostWaiting {
            try await Task.sleep(for: Self.pause)
            let status = try await cluster.status(of: queue)
            open = status.ready + status.active + status.parked + status.delayed
        }
    }
}
