import CommandLineKit
import Gannet

/// What `jobs retry` and `jobs delete` were asked to do, and their common course.
struct JobsChange: Sendable {
    private static let limit = Flag("limit", .integer(in: 1...1_000_000_000), "How many jobs at most.")

    static let flags = [limit.entry, JobFlags.dryRun.entry, Confirmation.yes.entry, CommonFlags.json.entry]

    let query: JobQuery
    let limit: Int
    let isDryRun: Bool
    let json: Bool
    let target: QueueTarget
    /// For what cannot be undone.
    var confirmation: Confirmation?

    init(_ arguments: Arguments, query: JobQuery) throws(UsageError) {
        self.query = query
        limit = try arguments.optional(Self.limit) ?? .max
        isDryRun = arguments.isSet(JobFlags.dryRun)
        json = arguments.isSet(CommonFlags.json)
        target = try QueueTarget(arguments)
    }

    /// Counts, asks, changes, tells. `name` is the change in JSON, `verb` begins a sentence.
    func run(
        _ name: String, _ verb: String, _ change: (Cluster) async throws(ClusterError) -> JobChange
    ) async throws(CommandFailure) -> ExitStatus {
        try await target.withCluster { (cluster) throws(CommandFailure) in
            if isDryRun {
                let count = try await count(in: cluster)
                try show(count, "Would have been \(name): \(query.phrase(count)).")
                return .done
            }
            if let confirmation, confirmation.mustAsk {
                let count = try await count(in: cluster)
                guard count > 0 else {
                    try show(0, "\(verb): \(query.phrase(0)).")
                    return .done
                }
                guard confirmation.ask("Delete \(query.phrase(count))?", target.console) else { return .done }
            }
            let changed = try await CommandFailure.wrapping { () throws(ClusterError) in try await change(cluster) }
            if changed.stuck > 0 {
                target.console.note(
                    "\(Amounts.count(changed.stuck, "job")) stayed dead: of a batch that was cancelled or is not remembered. Enqueue their URLs again."
                )
            }
            try show(changed.count, stuck: changed.stuck, "\(verb): \(query.phrase(changed.count)).")
            return .done
        }
    }

    private func count(in cluster: Cluster) async throws(CommandFailure) -> Int {
        try await CommandFailure.wrapping { () throws(ClusterError) in try await cluster.count(query, limit: limit) }
    }

    private func show(_ count: Int, stuck: Int = 0, _ sentence: String) throws(CommandFailure) {
        let json: JSONValue = [
            "schema": 1, "queue": .string(query.queue), "state": .string(query.state.rawValue), "host": JSONValue(query.host),
            "class": JSONValue(query.errorClass), "dryRun": .bool(isDryRun), "count": .integer(count),
            "stuck": .integer(stuck),
        ]
        try target.console.print(self.json ? json.text : sentence)
    }
}
