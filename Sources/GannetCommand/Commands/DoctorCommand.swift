import GannetBase
import GannetQueue

/// `gannet doctor`: looks for damage that a server that lost data, or a hand in its keys, may have left.
struct DoctorCommand: Command {
    private static let fix = Toggle("fix", "Mend the findings that can be mended.")

    static let spec = CommandSpec(
        "doctor",
        summary: "Look for damage in all queues of the namespace, and mend it with '--fix'.",
        discussion:
            "It may run beside workers. The exit status is 1 when a finding is left, or a part could not be checked. Bodies that made room for "
            + "others are a note, and no finding.",
        flags: [fix.entry, Confirmation.yes.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            Example("gannet doctor", "Prints the findings, and changes nothing."),
            Example("gannet doctor --fix --yes", "Mends them without a question."),
        ])

    /// With `--fix`.
    private let confirmation: Confirmation?
    private let json: Bool
    private let target: QueueTarget

    init(_ arguments: Arguments) throws {
        confirmation = arguments.isSet(Self.fix) ? try Confirmation(arguments, of: "'doctor --fix' changes what is in Redis") : nil
        json = arguments.isSet(CommonFlags.json)
        target = try QueueTarget(arguments)
    }

    func run() async throws -> ExitStatus {
        try await target.withCluster(looking: true, looksForDamage: true) { cluster in
            let bodies = BlobStore(cluster)
            var findings = try await cluster.audit(mend: false, bodies: bodies, looksAtSchema: true)
            if let confirmation, findings.contains(where: \.kind.isMendable) {
                if !json, confirmation.mustAsk { try show(findings) }
                if confirmation.ask("Mend this?", target.console) {
                    findings = try await cluster.audit(mend: true, bodies: bodies, looksAtSchema: true)
                }
            }
            if json {
                let json: JSONValue = [
                    "schema": 1, "namespace": .string(target.connection.namespace), "findings": .array(findings.map(Self.json)),
                ]
                try target.console.print(json.text)
            } else {
                try show(findings)
            }
            return findings.allSatisfy { $0.isMended || !$0.kind.isDrift } ? .done : .someFailed
        }
    }

    private func show(_ findings: [AuditFinding]) throws {
        guard !findings.isEmpty else { return try target.console.print(prose: "Everything is as it should be.") }
        for finding in findings {
            try target.console.print(prose: "\(finding.count) \(finding.noun)\(finding.isMended ? ", mended" : "")")
            try target.console.print(prose: "    such as \(finding.example)", indent: 4)
            try target.console.print(prose: "    \(finding.kind.meaning)", indent: 4)
        }
        // A note asks for nothing.
        let left = findings.filter { !$0.isMended && $0.kind.isDrift }
        let mendable = left.filter(\.kind.isMendable)
        if !mendable.isEmpty {
            target.console.note("'gannet doctor --fix' mends \(mendable.count == left.count ? "this" : "some of it").")
        }
    }

    private static func json(_ finding: AuditFinding) -> JSONValue {
        [
            "kind": .string(finding.kind.rawValue), "count": .integer(finding.count), "description": .string(finding.noun),
            "example": .string(finding.example), "meaning": .string(finding.kind.meaning), "mended": .bool(finding.isMended),
            "mendable": .bool(finding.kind.isMendable),
        ]
    }
}
