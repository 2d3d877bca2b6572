import Gannet
import URLLists

/// Reads a command's input into a producer.
enum Feeding {
    /// Opens the input, so that a wrong path is an error before anything is started.
    static func open(_ input: InputOptions) throws(CommandFailure) -> InputRows? {
        guard let source = input.source else { return nil }
        return try InputRows(source, input.list)
    }

    /// Feeds the URLs of the command line, then the input's rows. Throws ``StateError`` or ``CommandFailure``.
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

    /// Prints each reason once, with the first rows that it holds for and the number of the others.
    static func complain(about summary: EnqueueSummary, _ console: Console) {
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
