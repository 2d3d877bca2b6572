import GannetBase
import GannetQueue

/// Commands about whole queues.
enum QueueCommands {
    static let queues = CommandSpec(
        "queues", summary: "List the queues of the namespace.", flags: [CommonFlags.json.entry] + QueueTarget.flagsWithoutQueue,
        examples: ["gannet queues": "Lists each queue with its jobs and workers."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let namespace = target.connection.namespace
        let queues = try await target.withCluster(looking: true) { try await $0.queues() }
        if target.json {
            let list = queues.map { name, overview -> JSONValue in
                let counts = overview.counts
                return [
                    "queue": .string(name), "paused": .bool(counts.isPaused), "notEnded": .integer(counts.open),
                    "done": .integer(counts.done), "dead": .integer(counts.dead), "workers": .integer(overview.liveWorkers.count),
                ]
            }
            let json: JSONValue = ["schema": 1, "namespace": .string(namespace), "queues": .array(list)]
            return try target.console.print(json.text, last: .done)
        }
        guard !queues.isEmpty else {
            target.console.note("there are no queues in the namespace '\(namespace)'.")
            return .done
        }
        var table = TextTable([("QUEUE", .left), ("NOT ENDED", .right), ("DONE", .right), ("DEAD", .right), ("WORKERS", .right)])
        for (name, overview) in queues {
            let counts = overview.counts
            table.add(
                name.printable + counts.pauseText, "\(counts.open)", "\(counts.done)", "\(counts.dead)",
                "\(overview.liveWorkers.count)")
        }
        try target.console.print(table)
        return .done
    }

    static let pause = CommandSpec(
        "pause", summary: "Pause a queue: its jobs wait until 'resume', and requests in flight are finished.", flags: QueueTarget.flags,
        examples: ["gannet pause --queue images": "Pauses the queue 'images'."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let (wasPaused, unknown) = try await target.withQueue { queue in
            // The queue is paused also where its counters cannot be read. They are for a note alone.
            (try await queue.pause(), (try? await queue.overview()).flatMap { UnknownQueue(target.queue, $0) })
        }
        let name = "queue '\(target.queue)'"
        if let unknown {
            target.console.note("nothing was put into the \(name) yet." + (unknown.names.map { " \($0)." } ?? ""))
        }
        try target.console.print(
            prose: wasPaused ? "The \(name) was paused already." : "Paused the \(name); 'gannet resume' lets it go on.")
        return .done
    }

    static let resume = CommandSpec(
        "resume", summary: "Let a paused queue go on.", flags: QueueTarget.flags,
        examples: ["gannet resume --queue images": "Lets the queue 'images' go on."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let wasPaused = try await target.withQueue { try await $0.resume() }
        try target.console.print(prose: wasPaused ? "The queue '\(target.queue)' goes on." : "The queue '\(target.queue)' was not paused.")
        return .done
    }

    static let purge = CommandSpec(
        "purge",
        summary: "Remove everything in a queue: its jobs in every state, its batches and its totals.",
        discussion: "Requests in flight are finished and not counted. Bodies, and the outcomes of URLs, stay.",
        flags: [Confirmation.yes.entry] + QueueTarget.flags,
        examples: ["gannet purge --queue images --yes": "Empties the queue 'images' without a question."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let confirmation = try Confirmation(arguments, of: "'purge' empties a queue")
        return try await target.withQueue(looking: true) { queue in
            let counts = try await queue.counts()
            let open = counts.open
            let content =
                "\(Amounts.count(open, "job")) that \(open == 1 ? "has" : "have") not ended, \(counts.dead) dead, and the totals"
            guard confirmation.ask("Remove everything in the queue '\(target.queue)': \(content)?", target.console) else { return .done }
            try await queue.purge()
            try target.console.print(prose: "Removed from the queue '\(target.queue)': \(content).")
            return .done
        }
    }
}

extension QueueCommands {
    private static let fix = Toggle("fix", "Mend the findings that can be mended.")

    /// Looks for damage that a server that lost data, or a hand in its keys, may have left.
    static let doctor = CommandSpec(
        "doctor",
        summary: "Look for damage in all queues of the namespace, and mend it with '--fix'.",
        discussion:
            "It may run beside workers. The exit status is 1 when a finding is left, or a part could not be checked. Bodies that made room for "
            + "others are a note, and no finding.",
        flags: [fix.entry, Confirmation.yes.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            "gannet doctor": "Prints the findings, and changes nothing.",
            "gannet doctor --fix --yes": "Mends them without a question.",
        ]
    ) { arguments in
        let confirmation = arguments.isSet(fix) ? try Confirmation(arguments, of: "'doctor --fix' changes what is in Redis") : nil
        let target = try QueueTarget(arguments)
        return try await target.withCluster(looking: true, looksForDamage: true) { cluster in
            let bodies = BlobStore(cluster)
            var findings = try await cluster.audit(mend: false, bodies: bodies, looksAtSchema: true)
            if let confirmation, findings.contains(where: \.kind.isMendable) {
                if !target.json, confirmation.mustAsk { try show(findings, target.console) }
                if confirmation.ask("Mend this?", target.console) {
                    findings = try await cluster.audit(mend: true, bodies: bodies, looksAtSchema: true)
                }
            }
            if target.json {
                let json: JSONValue = [
                    "schema": 1, "namespace": .string(target.connection.namespace), "findings": .array(findings.map(Self.json)),
                ]
                try target.console.print(json.text)
            } else {
                try show(findings, target.console)
            }
            return findings.allSatisfy { $0.isMended || !$0.kind.isDrift } ? .done : .someFailed
        }
    }

    private static func show(_ findings: [AuditFinding], _ console: Console) throws {
        guard !findings.isEmpty else { return try console.print(prose: "Everything is as it should be.") }
        for finding in findings {
            try console.print(prose: "\(finding.count) \(finding.noun)\(finding.isMended ? ", mended" : "")")
            try console.print(prose: "    such as \(finding.example)", indent: 4)
            try console.print(prose: "    \(finding.kind.meaning)", indent: 4)
        }
        // A note asks for nothing.
        let left = findings.filter { !$0.isMended && $0.kind.isDrift }
        let mendable = left.filter(\.kind.isMendable)
        if !mendable.isEmpty { console.note("'gannet doctor --fix' mends \(mendable.count == left.count ? "this" : "some of it").") }
    }

    private static func json(_ finding: AuditFinding) -> JSONValue {
        [
            "kind": .string(finding.kind.rawValue), "count": .integer(finding.count), "description": .string(finding.noun),
            "example": .string(finding.example), "meaning": .string(finding.kind.meaning), "mended": .bool(finding.isMended),
            "mendable": .bool(finding.kind.isMendable),
        ]
    }
}
