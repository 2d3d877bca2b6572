import CommandLineKit
import Gannet

/// Which jobs `jobs list`, `retry` and `delete` are about.
enum JobFlags {
    /// Any state, and those in which jobs can be retried, or deleted.
    static let state = Flag("state", choice(JobQuery.State.allCases), "Only jobs in this state.")
    static let retriedState = Flag("state", choice([.dead, .delayed]), default: "dead", "Jobs in this state.")
    static let deletedState = Flag("state", choice([.ready, .parked, .delayed, .dead]), isRequired: true, "Jobs in this state.")

    private static let host = Flag("host", .text("host"), "Only jobs for this host; a name without a port.")
    static let errorClass = Flag(
        "class", .name("class", of: FailureClass.names, or: FailureClass.isKnown),
        "Only dead jobs that were given up for this class of reasons: \(FailureClass.names.joined(separator: ", ")), or http- and the status, such as http-404."
    )
    static let dryRun = Toggle("dry-run", "Say how many jobs it would be, and change nothing.")

    /// What goes with one of the states above.
    static let selecting = [host.entry, errorClass.entry]

    private static func choice(_ states: [JobQuery.State]) -> ValueType<String> { .choice("state", of: states.map(\.rawValue)) }

    /// The jobs asked for, in the state that `flag` names, or in `usual`.
    static func query(
        from arguments: Arguments, _ flag: Flag<String>, usual: JobQuery.State = .dead
    ) throws(UsageError) -> JobQuery {
        let named = try arguments.optional(flag).flatMap(JobQuery.State.init)
        let errorClass = try arguments.optional(errorClass)
        let query = JobQuery(
            queue: try arguments.require(QueueOption.name), state: named ?? usual, host: try arguments.optional(host)?.lowercased(),
            errorClass: errorClass)
        if errorClass != nil, query.state != .dead {
            throw arguments.usageError("Only dead jobs have a class: '--class' goes with '--state dead'.")
        }
        return query
    }
}

extension JobQuery {
    /// `12 dead jobs of the host h in the queue 'default'`.
    func phrase(_ count: Int) -> String {
        var words = Amounts.count(count, "\(state.rawValue) job")
        if let host { words += " of the host \(Sentence.quoted(host))" }
        if let errorClass { words += " of the class \(Sentence.quoted(errorClass))" }
        return words + " in the queue '\(queue)'"
    }
}
