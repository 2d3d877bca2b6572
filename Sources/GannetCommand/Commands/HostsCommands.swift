import Crawl
import GannetBase
import GannetQueue

/// Commands about the hosts of the namespace, which belong to no queue.
enum HostsCommands {
    static let group = CommandSpec(
        "hosts", summary: "Limit, slow down or pause a host for all workers.", subcommands: [list, set, clear],
        examples: [
            "gannet hosts set example.com --limit 2": "Gives a host two requests at once, whatever workers are told.",
            "gannet hosts clear example.com": "Leaves the host to the options of workers again.",
        ])

    private static let one = Positional(
        "host", isSingle: true, "A host such as example.com or example.com:8080, or '*.example.com' for each host below it.")
    private static let flags = [CommonFlags.json.entry] + QueueTarget.flagsWithoutQueue
    private static let limit = Flag(
        "limit", .integer(in: 1...HostRule.highestLimit), "How many requests the host gets at once, from all workers together.")
    private static let rate = Flag("rate", .rate, "How many requests a second the host gets, from all workers together.")
    private static let pause = Flag(
        "pause", .duration(in: .milliseconds(1)...OperatorRule.longestPause), "For how long no request starts at the host from now on.")

    /// The host, or the domain, that a rule is for: in the form that hosts of URLs have.
    private static func pattern(_ arguments: Arguments) throws -> String {
        if let pattern = OperatorRule.pattern(arguments.single) { return pattern }
        throw arguments.usageError(
            "\(Sentence.quoted(arguments.single)) is no host: name one such as 'example.com' or 'example.com:8080', "
                + "or '*.example.com' for each host below it.")
    }

    /// The rules of the namespace, and the hosts that keep jobs waiting.
    private static let list = CommandSpec(
        "list",
        summary: "List the rules for hosts, and the hosts that do not answer, rest, or ask for time between requests.",
        discussion: "A host that does not answer is probed: one request at a time asks whether it answers again. When it is given up, "
            + "its jobs fail with the reason of the last request. GIVEN UP says when that is at the latest, by the options of the workers "
            + "whose queues have jobs for it. A host that is paced gets a request only now and then, as its Crawl-delay asks. "
            + "JOBS are those of all queues that wait for the host: a worker has met "
            + "them and put them aside.",
        flags: flags,
        examples: ["gannet hosts list": "Lists the rules of the namespace, and the hosts for which jobs wait."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let (console, namespace) = (target.console, target.connection.namespace)
        let (rules, waits) = try await target.withCluster(looking: true) {
            let rules = try await $0.hostRules()
            return (rules, try await $0.hostBacklogs(under: rules))
        }
        if target.json {
            let json: JSONValue = [
                "schema": 1, "namespace": .string(namespace), "rules": OperatorRule.fields.list(of: rules),
                "waiting": WaitingHost.fields.list(of: waits.hosts), "waitingHosts": .integer(waits.count),
            ]
            return try console.print(json.text, last: .done)
        }
        if rules.isEmpty {
            console.note("there are no rules for hosts in the namespace '\(namespace)'.")
        } else {
            try console.print(table(rules))
        }
        if !waits.hosts.isEmpty {
            if !rules.isEmpty { try console.print("") }
            try console.print(table(waits))
            if waits.count > waits.hosts.count {
                console.note("\(waits.count) hosts keep jobs waiting, do not answer or rest. Shown are \(waits.hosts.count) of them.")
            }
        }
        return .done
    }

    private static func table(_ rules: [OperatorRule]) -> TextTable {
        var table = TextTable("HOST", "LIMIT", "REQUESTS A SECOND", "PAUSED")
        for rule in rules {
            let pause = rule.pause.map { "for another \(Amounts.time($0))" } ?? (rule.saysNothing ? "no more" : "-")
            table.add(rule.pattern, rule.limit.map { "\($0)" } ?? "-", rule.interval.map(OperatorRule.rate) ?? "-", pause)
        }
        return table
    }

    private static func table(_ waits: (hosts: [WaitingHost], count: Int)) -> TextTable {
        var table = TextTable([
            ("HOST", .left), ("STATE", .left), ("SINCE", .right), ("NEXT REQUEST", .right), ("GIVEN UP", .right), ("JOBS", .right),
            ("REASON", .left),
        ])
        for host in waits.hosts {
            let jobs = host.jobs ?? 0
            let open = jobs > 0 ? "now" : "with its next job"
            let next = host.isGivenUp ? "-" : host.rest > .zero ? "in \(Amounts.time(host.rest))" : open
            let known = host.pace.map { "it \(WaitText.pacing($0))" } ?? host.reason
            let reason = known ?? (host.state == .rests ? "it asked for a rest" : "it does not answer")
            table.add(
                [
                    host.name, host.state.rawValue, host.since.map { "\(Amounts.roughTime($0)) ago" } ?? "-", next,
                    host.givenUpWithin.map { "in \(Amounts.roughTime($0))" } ?? "-", "\(jobs)", reason,
                ].map { StyledText($0) })
        }
        return table
    }

    private static let set = CommandSpec(
        "set",
        summary: "Give a host, or each host of a domain by itself, a limit, a rate or a pause.",
        discussion: "The rule stands in place of the rule that the host had, and outranks the options of workers. "
            + "A rule for a host outranks the rule for its domain. Requests in flight are finished. Workers notice within half a minute "
            + "that a rule for a domain allows more than before, and all other rules at once.",
        positional: one, flags: [limit.entry, rate.entry, pause.entry] + flags,
        mostUsed: ["limit", "rate", "pause"],
        examples: [
            "gannet hosts set example.com --limit 2 --rate 0.5": "Asks a host every two seconds, with two requests at once at most.",
            "gannet hosts set '*.example.com' --pause 1h": "Asks no host below example.com for an hour.",
        ]
    ) { arguments in
        let rule = OperatorRule(
            try pattern(arguments), limit: try arguments.optional(limit), interval: try arguments.optional(rate),
            pause: try arguments.optional(pause))
        if rule.saysNothing { throw arguments.usageError("A rule needs '--limit', '--rate' or '--pause'.") }
        let target = try QueueTarget(arguments)
        try await target.withCluster { try await $0.set(rule) }
        return try target.show(
            .object([(key: "schema", value: 1)] + OperatorRule.fields.members(of: rule)),
            or: "The rule for \(rule.subject): \(rule.words).")
    }

    /// Takes the rule of a host away, and has a host asked again.
    private static let clear = CommandSpec(
        "clear",
        summary: "Clear the rule for a host or a domain, and have a host asked again.",
        discussion:
            "The options of workers hold again. A host that is given up, does not answer or rests is asked at once, also if it asked "
            + "for the rest. Its URLs that wait for their next attempt are due at once.",
        positional: one, flags: flags,
        examples: [
            "gannet hosts clear '*.example.com'": "Clears the rule for the hosts below example.com.",
            "gannet hosts clear example.com": "Has a host asked again that had asked for an hour's rest.",
        ]
    ) { arguments in
        let pattern = try pattern(arguments)
        let target = try QueueTarget(arguments)
        let subject = OperatorRule(pattern).subject
        let isHost = !OperatorRule(pattern).isForDomain
        let (hadRule, isAskedAgain, due, others) = try await target.withCluster { cluster in
            let hadRule = try await cluster.clearRule(pattern)
            let isAskedAgain = isHost ? try await cluster.forgive(pattern) : false
            let due = isHost ? try await cluster.tryAgainNow(at: pattern) : 0
            let isUnknown = isHost && !hadRule && !isAskedAgain && due == 0
            return (hadRule, isAskedAgain, due, isUnknown ? try await cluster.hosts(named: pattern) : [])
        }
        guard hadRule || isAskedAgain || due > 0 else {
            let rest = isHost ? ", and it neither is silent nor rests" : ""
            let known =
                others.isEmpty ? "'gannet hosts list' shows those there are" : "each port is a host: \(others.joined(separator: ", "))"
            throw CommandFailure(.wrongUsage, "There is no rule for \(subject)\(rest); \(known).")
        }
        var sentences: [String] = []
        if hadRule { sentences.append("Cleared the rule for \(subject).") }
        if isAskedAgain { sentences.append("\(pattern) is asked again.") }
        if due > 0 {
            sentences.append("\(Amounts.count(due, "URL")) of \(pattern) \(due == 1 ? "is" : "are") due for the next attempt now.")
        }
        return try target.show(
            [
                "schema": 1, "host": .string(pattern), "cleared": .bool(hadRule), "askedAgain": .bool(isAskedAgain), "due": .integer(due),
            ], or: sentences.joined(separator: "\n"))
    }
}

extension OperatorRule {
    /// Neither a limit nor a rate, and no pause or one that has ended.
    var saysNothing: Bool { limit == nil && interval == nil && pause == nil }

    /// `the host 'example.com'`, `each host below 'example.com'`.
    var subject: String { isForDomain ? "each host below '\(pattern.dropFirst(2))'" : "the host '\(pattern)'" }

    /// `at most 2 requests at once, at most 0.5 requests a second, no request for 1 h 0 min`
    var words: String {
        var parts: [String] = []
        if let limit { parts.append("at most \(Amounts.count(limit, "request")) at once") }
        if let interval { parts.append("at most \(Self.rate(interval)) \(interval == .seconds(1) ? "request" : "requests") a second") }
        if let pause { parts.append("no request for \(Amounts.time(pause))") }
        return parts.isEmpty ? "its pause has ended" : parts.joined(separator: ", ")
    }

    /// Requests a second, as `--rate` takes them.
    static func rate(_ interval: Duration) -> String {
        let thousandths = Int((.seconds(1000) / max(interval, .milliseconds(1))).rounded())
        let digits = String(thousandths % 1000 + 1000).dropFirst()
        let places = String(digits.reversed().drop { $0 == "0" }.reversed())
        return "\(thousandths / 1000)" + (places.isEmpty ? "" : ".\(places)")
    }
}
