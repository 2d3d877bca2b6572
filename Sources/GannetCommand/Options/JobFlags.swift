import ClusterState
import CommandLineKit
import Gannet

/// Which jobs `jobs list`, `retry` and `delete` are about.
enum JobFlags {
    /// Any state, and those in which jobs can be retried, or deleted.
    static let state = Flag(
        "state", choice(JobState.allCases), "Only jobs in this state: ready, active, parked, delayed or dead. 'failed' means dead.")
    static let retriedState = Flag("state", choice([.dead, .delayed]), default: "dead", "The state of the jobs: dead or delayed.")
    static let deletedState = Flag(
        "state", choice([.ready, .parked, .delayed, .dead]), isRequired: true, "The state of the jobs: ready, parked, delayed or dead.")

    private static let host = Flag("host", .text("host"), "Only jobs of this host, a name without a port.")
    static let errorClass = Flag(
        "class", .name("class", of: FailureClass.names, or: FailureClass.isKnown),
        "Only dead jobs that failed for this class of reasons: \(FailureClass.names.joined(separator: ", ")), or a status such as http-404."
    )
    static let dryRun = Toggle("dry-run", "Print how many jobs it would be, and change nothing.")

    /// Flags that go with a state.
    static let selecting = [host.entry, errorClass.entry]

    private static func choice(_ states: [JobState]) -> ValueType<String> { .choice("state", of: states.map(\.rawValue)) }

    /// The jobs asked for, in the state that `flag` names, or in `usual`.
    static func query(
        from arguments: Arguments, _ flag: Flag<String>, usual: JobState = .dead
    ) throws(UsageError) -> JobSelection {
        let named = try arguments.optional(flag).flatMap(JobState.init)
        let errorClass = try arguments.optional(errorClass)
        let filter = JobFilter(host: try arguments.optional(host)?.lowercased(), errorClass: errorClass)
        let query = JobSelection(named ?? usual, filter)
        if errorClass != nil, query.state != .dead {
            throw arguments.usageError("Only dead jobs have a class: '--class' goes with '--state dead'.")
        }
        return query
    }
}

extension JobSelection {
    /// `12 dead jobs of the host h in the queue 'default'`.
    func phrase(_ count: Int, _ queue: String) -> String {
        var words = Amounts.count(count, "\(state.rawValue) job")
        if let host = filter.host { words += " of the host \(Sentence.quoted(host))" }
        if let errorClass = filter.errorClass { words += " of the class \(Sentence.quoted(errorClass))" }
        return words + " in the queue '\(queue)'"
    }
}
