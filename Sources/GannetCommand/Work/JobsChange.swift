import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// The arguments of `jobs retry` and `jobs delete`, and their common steps.
struct JobsChange: Sendable {
    private static let limit = Flag("limit", .integer(in: 1...1_000_000_000), "How many jobs at most.")

    static let flags = [limit.entry, JobFlags.dryRun.entry, Confirmation.yes.entry, CommonFlags.json.entry]

    let query: JobSelection
    let limit: Int
    let isDryRun: Bool
    let json: Bool
    let target: QueueTarget
    /// For what cannot be undone.
    var confirmation: Confirmation?

    init(_ arguments: Arguments, query: JobSelection) throws(UsageError) {
        self.query = query
        limit = try arguments.optional(Self.limit) ?? .max
        isDryRun = arguments.isSet(JobFlags.dryRun)
        json = arguments.isSet(CommonFlags.json)
        target = try QueueTarget(arguments)
    }

    /// Counts, asks, changes, tells. `name` is the change in JSON, `verb` begins a sentence.
    func run(
        _ name: String, _ verb: String, _ change: (FetchQueue) async throws -> JobSweep
    ) async throws(CommandFailure) -> ExitStatus {
        try await target.withCluster { (cluster) throws(CommandFailure) in
            if isDryRun {
                let count = try await count(in: cluster.queue(target.queue))
                try show(count, "Would have been \(name): \(query.phrase(count, target.queue)).")
                return .done
            }
            if let confirmation, confirmation.mustAsk {
                let count = try await count(in: cluster.queue(target.queue))
                guard count > 0 else {
                    try show(0, "\(verb): \(query.phrase(0, target.queue)).")
                    return .done
                }
                guard confirmation.ask("Delete \(query.phrase(count, target.queue))?", target.console) else { return .done }
            }
            let changed = try await CommandFailure.wrapping { try await change(cluster.queue(target.queue)) }
            if changed.stuck > 0 {
                target.console.note(
                    "\(Amounts.count(changed.stuck, "job")) stayed dead: of a batch that was cancelled or is not remembered. Enqueue their URLs again."
                )
            }
            try show(changed.count, stuck: changed.stuck, "\(verb): \(query.phrase(changed.count, target.queue)).")
            return .done
        }
    }

    private func count(in queue: FetchQueue) async throws(CommandFailure) -> Int {
        try await CommandFailure.wrapping { try await queue.count(query, limit: limit) }
    }

    private func show(_ count: Int, stuck: Int = 0, _ sentence: String) throws(CommandFailure) {
        let json: JSONValue = [
            "schema": 1, "queue": .string(target.queue), "state": .string(query.state.rawValue), "host": JSONValue(query.filter.host),
            "class": JSONValue(query.filter.errorClass), "dryRun": .bool(isDryRun), "count": .integer(count),
            "stuck": .integer(stuck),
        ]
        try target.console.print(self.json ? json.text : sentence)
    }
}
