import GannetQueue

/// Words for what the rest of a list waits for: the hosts that hold it up, and the jobs.
struct WaitText: Sendable, Equatable {
    /// `3 hosts do not answer, 1 host asked for a rest`; nil where no such host is known.
    private var trouble: String?
    /// `given up in 40 s at the latest`
    private var end: String?
    /// `a.example: no connection, asked 2 times, next try in 8.0 s`
    private var hosts: [String] = []
    /// `4 wait for 4 hosts`, `1 for its next attempt`
    private var jobs: [String] = []
    /// `http-500 at b.example, next in 8.0 s`, of hosts that are not among the others, and the place of their jobs
    private var attempts: [String] = []
    private var delayed = 0

    private static let mostHosts = 3

    init(_ text: String) { jobs = [text] }

    /// `9 wait for the proxy; the first is given up in 59 min 50 s`
    init(_ count: Int, for want: String, firstEnd: Duration?) {
        let end = firstEnd.flatMap { $0 > .zero ? "; the first is given up in \(Amounts.roughTime($0))" : nil }
        jobs = ["\(Self.wait(count)) for \(want)\(end ?? "")"]
    }

    /// Nil while most open jobs wait for their turn alone or for the others' fetches, and no host's pace outlasts them.
    /// - Parameters:
    ///   - open: Jobs that have not ended.
    ///   - remaining: How long these take at the present speed.
    ///   - goesOn: Whether somebody is at work. Hosts are only asked again, and given up, by workers.
    init?(_ waits: QueueWaits, of open: Int, remaining: Duration? = nil, goesOn: Bool = true) {
        let waits = waits.within(open)
        let outlasts = remaining.map { left in waits.paced.first.map { $0.time >= left } ?? false } ?? false
        let (others, held) = (open - waits.total, waits.held + waits.delayed)
        guard waits.total > 0, outlasts || others <= 0 || held > 0 && held >= others else { return nil }
        let silent = waits.silent.filter { $0.failures > 0 }
        let resting = waits.silent.filter { $0.failures == 0 }
        var troubles: [String] = []
        if !silent.isEmpty {
            let most = silent.count == QueueWaits.mostSilent ? "\(silent.count) hosts and more" : Amounts.count(silent.count, "host")
            troubles.append("\(most) \(silent.count == 1 ? "does" : "do") not answer")
        }
        if !resting.isEmpty { troubles.append("\(Amounts.count(resting.count, "host")) asked for a rest") }
        if !waits.paced.isEmpty {
            troubles.append(
                "\(Amounts.count(waits.paced.count, "host")) \(waits.paced.count == 1 ? "asks" : "ask") for time between requests")
        }
        if goesOn, !troubles.isEmpty, let end = waits.givenUpWithin, end > .zero {
            self.end = "given up in \(Amounts.roughTime(end)) at the latest"
        }
        let told = silent + resting + waits.paced
        trouble = troubles.isEmpty ? nil : troubles.joined(separator: ", ")
        hosts = told.prefix(Self.mostHosts).map { Self.words($0, goesOn: goesOn) }
        if told.count > Self.mostHosts { hosts.append("\(told.count - Self.mostHosts) more") }

        if waits.held > 0 {
            // Hosts that were named are among these.
            let count = min(waits.hosts, waits.held)
            let why = trouble != nil ? "" : count == 1 ? " that rests or is busy" : " that rest or are busy"
            jobs.append("\(Self.wait(waits.held)) for \(Amounts.count(count, "host"))\(why)")
        }
        delayed = jobs.count
        if waits.delayed > 0 {
            let count = waits.held > 0 ? "\(waits.delayed)" : Self.wait(waits.delayed)
            jobs.append("\(count) for \(waits.delayed == 1 ? "its" : "their") next attempt")
            attempts = waits.retries.filter { retry in !told.contains { $0.name == retry.name } }.map { retry in
                let failure = "\(retry.errorClass.map(ClassCounts.shown) ?? "failed") at \(retry.name)"
                guard goesOn else { return failure }
                let end = waits.givenUpWithin(retry).map { ", given up in \(Amounts.roughTime($0)) at the latest" } ?? ""
                return "\(failure), \(retry.rest > .zero ? "next in \(Amounts.time(retry.rest))" : "due now")\(end)"
            }
        }
        if waits.parked > 0 {
            let end = waits.parkedUntil.map { " (until at most \(Amounts.clock($0)))" } ?? ""
            jobs.append("\(Amounts.count(waits.parked, "URL")) \(waits.parked == 1 ? "is" : "are") being fetched by another worker\(end)")
        }
        if others > 0 { jobs.append("\(others) \(goesOn ? "under way or in line" : "in line")") }
    }

    var sentence: String {
        var jobs = jobs
        if !attempts.isEmpty { jobs[delayed] += " (\(attempts.joined(separator: "; ")))" }
        return (trouble.map { "\($0) (\(hosts.joined(separator: "; ")))\(end.map { ", \($0)" } ?? ""); " } ?? "")
            + jobs.joined(separator: ", ")
    }

    /// The same for a narrow screen: each host has a line of its own.
    var lines: [String] {
        (trouble.map { [$0] + hosts.map { "  " + $0 } } ?? []) + [end, jobs.joined(separator: ", ")].compactMap(\.self)
            + attempts.map { "  " + $0 }
    }

    private static func words(_ host: WaitingHost, goesOn: Bool) -> String {
        var parts: [String] = []
        if host.failures > 0 {
            parts.append(host.errorClass.map { reasons[$0] ?? ClassCounts.shown($0) } ?? "no answer")
            if host.failures > 1 { parts.append("asked \(host.failures) times") }
        } else if let answer = host.errorClass {
            parts.append(ClassCounts.shown(answer))
        }
        if let pace = host.pace {
            parts.append(pacing(pace))
            let time = goesOn ? ", for \(Amounts.roughTime(host.time)) at least" : ""
            parts.append("\(Amounts.count(host.jobs ?? 0, "URL")) \(host.jobs == 1 ? "waits" : "wait")\(time)")
        } else if host.isGivenUp {
            parts.append("given up")
        } else if goesOn {
            parts.append(host.rest > .zero ? "next try in \(Amounts.time(host.rest))" : "asked now")
        }
        return parts.isEmpty ? host.name : "\(host.name): \(parts.joined(separator: ", "))"
    }

    /// Redis does not know whether the site asks, or a worker that goes by slow answers.
    static func pacing(_ pace: Duration) -> String { "asks for \(Amounts.time(pace)) between requests (Crawl-delay or slow answers)" }

    /// The words for classes of failures, where a host had one.
    private static let reasons = [
        "connect": "no connection", "timeout": "no answer in time", "reset": "connection lost", "tls": "no trusted TLS connection",
        "no-such-host": "no such name", "dns": "name not found",
    ]

    private static func wait(_ count: Int) -> String { "\(count) \(count == 1 ? "waits" : "wait")" }
}
