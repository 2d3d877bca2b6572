import Crawl
import GannetBase

extension LeftBehind {
    /// A sentence about jobs and exchanges, and one about the list of workers.
    var sentence: String {
        var sentences: [String] = []
        if jobs > 0 || !partitions.isEmpty {
            let place = partitionCount > 1 ? " for \(partitions.count) of \(partitionCount) partitions" : ""
            sentences.append(
                jobs > 0
                    ? "Redis did not confirm that \(Amounts.count(jobs, "URL")) \(jobs == 1 ? "is" : "are") handed back: what it still counts as this worker's goes to others when the lease ends, charged a crash each."
                    : "ended without an answer of Redis\(place): URLs that were on their way to this worker go to others when the leases end, charged a crash each."
            )
        }
        if isListed {
            let part = partitionCount > 1 ? "the part of Redis with its record" : "Redis"
            let reason = jobs > 0 ? "" : ", because \(part) did not answer"
            sentences.append("'workers list' shows this worker as silent for ten minutes\(reason).")
        }
        return sentences.joined(separator: " ")
    }

    var facts: LogFacts {
        [
            (key: "event", value: "leftBehind"), (key: "jobs", value: .integer(jobs)),
            (key: "partitions", value: .array(partitions.map { .integer($0) })), (key: "listed", value: .bool(isListed)),
        ]
    }
}
