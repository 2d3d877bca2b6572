import GannetQueue

/// Words for batches whose bodies stay in Redis until somebody has exported them.
struct HeldBodies: Sendable {
    private let batches: [HoldingBatch]

    private static let mostNamed = 3

    init(_ batches: [HoldingBatch]) { self.batches = batches }

    /// The batches in the way, and the commands that make room.
    var sentence: String {
        guard let first = batches.first else { return "its bodies are in use." }
        let isOneQueue = batches.allSatisfy { $0.queue == first.queue }
        let named = batches.prefix(Self.mostNamed).map { "'\($0.batch)'" + (isOneQueue ? "" : " of the queue '\($0.queue)'") }
        let rest = batches.count - named.count
        let all = named.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        let place = first.queue == QueueOption.usual ? "" : " --queue \(Sentence.quotedForShell(first.queue))"
        return "nobody has exported \(batches.count == 1 ? "the batch" : "the batches") \(all). "
            + "'gannet export --batch \(first.batch)\(place) -d DIR' makes room, and so does 'gannet batch release \(first.batch)\(place)', "
            + "which gives the bodies up."
    }
}
