import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet doctor`: looks for damage that a server that lost data, or a hand in its keys, may have left.
enum DoctorCommand: Command {
    private static let fix = Toggle("fix", "Mend the findings that can be mended.")

    static let spec = CommandSpec(
        "doctor",
        summary: "Look for damage in all queues of the namespace, and mend it with '--fix'.",
        discussion: "It may run beside workers. The exit status is 1 when a finding is left.",
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
            if let confirmation = options.confirmation, findings.contains(where: \.kind.isMendable) {
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
            // A part that could not be looked at is not known to be wrong.
            return findings.allSatisfy { $0.isMended || !$0.kind.isDrift } ? .done : .someFailed
        }
    }

    private static func audit(_ cluster: ClusterState, mend: Bool) async throws(CommandFailure) -> [AuditFinding] {
        try await CommandFailure.wrapping { try await cluster.audit(mend: mend) }
    }

    private static func show(_ findings: [AuditFinding], _ console: Console) throws(CommandFailure) {
        guard !findings.isEmpty else { return try console.print("Everything is as it should be.") }
        for finding in findings {
            try console.print("\(finding.count) \(finding.kind)\(finding.isMended ? ", mended" : "")")
            try console.print("    such as \(finding.example)")
            try console.print("    \(finding.kind.meaning)")
        }
        let left = findings.filter { !$0.isMended && $0.kind.isMendable }
        if !left.isEmpty {
            console.note("'gannet doctor --fix' mends \(left.count == findings.count ? "this" : "what can be mended of it").")
        }
    }

    private static func json(_ finding: AuditFinding) -> JSONValue {
        [
            "kind": .string(finding.kind.rawValue), "count": .integer(finding.count), "description": .string(finding.kind.description),
            "example": .string(finding.example), "meaning": .string(finding.kind.meaning), "mended": .bool(finding.isMended),
            "mendable": .bool(finding.kind.isMendable),
        ]
    }
}

/// The arguments of `gannet doctor`.
struct DoctorOptions: Sendable {
    /// With `--fix`.
    var confirmation: Confirmation?
    var json: Bool
    var target: QueueTarget
}
