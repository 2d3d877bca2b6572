import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet batch list`: the batches that are remembered, the latest first.
enum BatchListCommand: Command {
    private static let limit = Flag("limit", .integer(in: 1...100_000), default: "50", "How many to show at most.")

    static let spec = CommandSpec(
        "list", summary: "List a queue's batches, the latest first.", flags: [limit.entry, CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> BatchListOptions {
        BatchListOptions(
            limit: try arguments.require(limit), json: arguments.isSet(CommonFlags.json), target: try QueueTarget(arguments))
    }

    static func run(_ options: BatchListOptions) async throws(CommandFailure) -> ExitStatus {
        let target = options.target
        return try await target.withCluster { (cluster) throws(CommandFailure) in
            let found = try await CommandFailure.wrapping { try await cluster.queue(target.queue).batches(limit: options.limit) }
            let reports = found.batches.map { BatchReport(queue: target.queue, batch: $0) }
            if options.json {
                let json: JSONValue = [
                    "schema": 1, "queue": .string(target.queue), "batches": .array(reports.map { .object($0.members) }),
                    "total": .integer(found.total),
                ]
                try target.console.print(json.text)
                return .done
            }
            guard !reports.isEmpty else {
                target.console.note("there are no batches in the queue '\(target.queue)'.")
                return .done
            }
            var table = TextTable("BATCH", "STATE", "PROGRESS", "DONE", "FAILED", "CANCELLED", "PRIORITY", "BEGUN")
            for report in reports {
                let batch = report.batch
                table.add(
                    batch.name, batch.state.rawValue, report.progress, String(batch.done), String(batch.failed), String(batch.cancelled),
                    batch.options.priority.rawValue, batch.age.map { Amounts.time($0) + " ago" } ?? "unknown")
            }
            try target.console.print(table.text)
            if found.total > reports.count { target.console.note("\(found.total - reports.count) more; '--limit' shows them.") }
            return .done
        }
    }
}

/// The arguments of `gannet batch list`.
struct BatchListOptions: Sendable {
    var limit: Int
    var json: Bool
    var target: QueueTarget
}
