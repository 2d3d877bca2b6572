import CommandLineKit
import Gannet

/// `gannet doctor`: looks for what a server that lost data, or somebody else's hand, may have left.
enum DoctorCommand: Command {
    private static let fix = Toggle("fix", "Mend what can be mended.")

    static let spec = CommandSpec(
        "doctor",
        summary: "Look for drift in all queues of the namespace, and mend it with '--fix'.",
        discussion: "It may run beside workers. The exit status is 1 when something is left that is not as it should be.",
        flags: [fix.entry, Confirmation.yes.entry, CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> DoctorOptions {
        let fixes = arguments.isSet(fix)
        return DoctorOptions(
            confirmation: fixes ? try Confirmation(arguments, of: "'doctor --fix' changes what is in Redis") : nil,
            json: arguments.isSet(CommonFlags.json), target: try QueueTarget(arguments))
    }

    static func run(_ options: DoctorOptions) async throws(CommandFailure) -> ExitStatus {
        let console = options.target.console
        return try await options.target.withCluster { (cluster) throws(CommandFailure) in
            var findings = try await audit(cluster, mend: false)
            if let confirmation = options.confirmation, findings.contains(where: \.isMendable) {
                if !options.json, confirmation.mustAsk { try show(findings, console) }
                if confirmation.ask("Mend this?", console) { findings = try await audit(cluster, mend: true) }
            }
            if options.json {
                let json: JSONValue = [
                    "schema": 1, "namespace": .string(options.target.connection.namespace), "findings": .array(findings.map(Self.json)),
                ]
                try console.print(json.text)
            } else {
                try show(findings, console)
            }
            // What could not be looked at is not known to be wrong.
            return findings.allSatisfy { $0.isMended || !$0.isDrift } ? .done : .someFailed
        }
    }

    private static func audit(_ cluster: Cluster, mend: Bool) async throws(CommandFailure) -> [DriftFinding] {
        try await CommandFailure.wrapping { () throws(ClusterError) in try await cluster.audit(mend: mend) }
    }

    private static func show(_ findings: [DriftFinding], _ console: Console) throws(CommandFailure) {
        guard !findings.isEmpty else { return try console.print("Everything is as it should be.") }
        for finding in findings {
            try console.print("\(finding.count) \(finding.description)\(finding.isMended ? ", mended" : "")")
            try console.print("    such as \(finding.example)")
            try console.print("    \(finding.meaning)")
        }
        let left = findings.filter { !$0.isMended && $0.isMendable }
        if !left.isEmpty {
            console.note("'gannet doctor --fix' mends \(left.count == findings.count ? "this" : "what can be mended of it").")
        }
    }

    private static func json(_ finding: DriftFinding) -> JSONValue {
        [
            "kind": .string(finding.kind), "count": .integer(finding.count), "description": .string(finding.description),
            "example": .string(finding.example), "meaning": .string(finding.meaning), "mended": .bool(finding.isMended),
            "mendable": .bool(finding.isMendable),
        ]
    }
}

/// What `gannet doctor` was asked to do.
struct DoctorOptions: Sendable {
    /// For whoever asked to mend.
    var confirmation: Confirmation?
    var json: Bool
    var target: QueueTarget
}
