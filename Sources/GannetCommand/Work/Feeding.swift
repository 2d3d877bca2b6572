import Gannet
import URLLists

/// Reads a command's input into a producer.
enum Feeding {
    /// Opens what there is to read, so that a wrong path is told before anything is started.
    static func open(_ input: InputOptions) throws(CommandFailure) -> InputRows? {
        guard let source = input.source else { return nil }
        return try InputRows(source, input.list)
    }

    /// Feeds the URLs of the command line, then the input's rows. Throws ``ClusterError`` or ``CommandFailure``.
    static func feed(_ input: InputOptions, _ rows: InputRows?, into producer: consuming Producer) async throws -> EnqueueSummary {
        for (index, url) in input.urls.enumerated() {
            try await producer.add(Array(url.utf8)[...], from: .argument(index + 1))
        }
        while let batch = try await rows?.nextBatch() {
            for row in batch {
                switch row.content {
                case .url(let bytes): try await producer.add(bytes, from: .line(row.number))
                case .invalid(let problem): producer.refuse(.line(row.number), problem.description)
                }
            }
        }
        // A reader that was cancelled looks like an input that has ended; only the task knows.
        try Task.checkCancellation()
        try await producer.finish()
        return producer.summary
    }

    /// Names what could not be used.
    static func complain(about summary: EnqueueSummary, _ console: Console) {
        for complaint in summary.complaints {
            console.complain("\(complaint.place): not a URL that can be fetched: \(complaint.reason)")
        }
        let rest = summary.invalid - summary.complaints.count
        if rest > 0 { console.complain("… and \(rest) more like these") }
    }
}
