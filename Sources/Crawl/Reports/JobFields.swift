package import GannetBase
internal import GannetHTTP
package import GannetQueue

extension Batch {
    package static let fields = Fields<Batch>([
        .text("batch", \.name), .text("state", \.state.rawValue), .word("priority", \.options.priority),
        .flag("refresh", \.options.refresh),
        .seconds("maxAgeSeconds", ifKnown: \.options.maximumAge), .texts("headers") { $0.options.headers.lines.map(\.name) },
        .word("robots", \.options.manners.robots), .word("optOuts", \.options.manners.optOuts),
        .flag("keepsWire") { $0.options.keeping == .wire }, .flag("cache") { $0.options.keeping == .cache },
        .text("traceID", ifKnown: \.options.trace?.traceID), .seconds("ageSeconds", ifKnown: \.age),
        .number("progress", ifKnown: \.progress), .integer("total", \.total), .integer("done", \.done),
        .integer("failed") { $0.failed - $0.disallowed }, .integer("disallowed", \.disallowed), .integer("cancelled", \.cancelled),
        .integer("ready", \.ready), .integer("active", \.active), .integer("parked", \.parked), .integer("delayed", \.delayed),
        .integer("lostPartitions", \.lostParts),
    ])
}

extension ListedJob {
    package static let fields = Fields<ListedJob>([
        .word("state", \.state), .text("id", \.entry.id.bytes.hexadecimal), .text("url", \.shownURL),
        .text("host", \.entry.host), .text("batch", ifKnown: \.batchName), .seconds("ageSeconds", ifKnown: \.age),
        .seconds("activeSeconds", ifKnown: { $0.time(in: .active) }),
        .seconds("dueInSeconds", ifKnown: { $0.time(in: .delayed).map { .zero - $0 } }),
        .seconds("givenUpWithinSeconds", ifKnown: \.givenUpWithin), .seconds("deadSeconds", ifKnown: { $0.time(in: .dead) }),
        .integer("failures", \.failures),
        .integer("crashes", \.crashes), .integer("httpStatus", ifKnown: \.error?.httpStatus),
        .object("error", failure, ifKnown: { job in job.errorClass.map { ($0, job.errorMessage) } }),
        .object("phases", PhaseTimes.fields, ifKnown: \.error?.phases),
    ])

    private static let failure = Fields<(errorClass: String, message: String?)>([
        .text("class") { $0.errorClass }, .text("message", ifKnown: { $0.message }),
    ])

    /// Since when the job is in its state, or until when it waits.
    private func time(in state: JobState) -> Duration? { self.state == state ? since : nil }

    /// Without credentials.
    package var shownURL: String { RedactedURL.withoutSecrets(entry.url) }
    package var errorClass: String? { error?.fields[.errorClass] }
    /// Why the job failed, if it did.
    package var errorMessage: String? { errorClass == nil ? error?.fields[.errorMessage] : error?.failureSentence }
}

extension PhaseTimes {
    /// Seconds, in the order of time.
    package static let fields = Fields<PhaseTimes>(
        all.map { phase in .seconds(phase.key + "Seconds") { .milliseconds(Int($0[keyPath: phase.path])) } })
}

/// A URL that was asked for, and its explanation.
package struct URLLook: Sendable {
    private let url: RequestedURL
    private let found: Explanation

    package init(_ url: RequestedURL, _ found: Explanation) { (self.url, self.found) = (url, found) }

    package static let fields = Fields<URLLook>([
        .integer("schema") { _ in 1 }, .text("url", \.url.canonical), .text("id", \.url.id.bytes.hexadecimal),
        .texts("headers", \.url.headers.names), .flag("cached") { $0.found.outcome.map { !$0.isNegative } ?? false },
        .object("outcome", outcome, ifKnown: { look in look.found.outcome.map { (look.found, $0) } }),
        .object("holder", holder, ifKnown: { look in look.found.holder.map { (look.found, $0) } }),
        .integer("waitingJobs", \.found.followers), .integer("waitingCallers", \.found.waiters), .object("host", host) { $0 },
    ])

    private static let outcome = Fields<(found: Explanation, outcome: URLOutcome)>([
        .flag("failed") { $0.outcome.isNegative }, .flag("fresh") { $0.found.isFresh },
        .seconds("ageSeconds") { $0.outcome.age(at: $0.found.now) },
        .seconds("freshForSeconds") { $0.outcome.freshFor(at: $0.found.now) },
        .seconds("tookSeconds") { .milliseconds($0.outcome.ended - $0.outcome.began) },
        .object("phases", PhaseTimes.fields, ifKnown: { $0.outcome.content.phases }),
        .integer("httpStatus", ifKnown: { $0.outcome.content.httpStatus }),
        .integer("bytes", ifKnown: { $0.outcome.content.digest == nil ? nil : $0.outcome.content.size }),
        .text("sha256", ifKnown: { $0.outcome.content.digest?.hexadecimal }),
        .text("contentType", ifKnown: { $0.outcome.content.fields[.contentType] }),
        .text("file", ifKnown: { $0.outcome.content.fields[.file] }), .text("optOut", ifKnown: { $0.outcome.content.fields[.optOut] }),
        .object(
            "error", Fields<(kind: String, sentence: String)>([.text("class") { $0.kind }, .text("message") { $0.sentence }]),
            ifKnown: { $0.outcome.failure.map { ($0.kind, $0.sentence) } }),
    ])

    private static let holder = Fields<(found: Explanation, holder: URLLock)>([
        .text("kind") { "\($0.holder.kind)" }, .text("queue", ifKnown: { $0.holder.queue.isEmpty ? nil : $0.holder.queue }),
        .seconds("seconds") { $0.found.held(by: $0.holder) }, .seconds("leaseSeconds") { $0.found.heldFor },
    ])

    private static let host = Fields<URLLook>([
        .text("name", \.url.host), .integer("inFlight", \.found.standing.running),
        .seconds("coolDownSeconds", ifKnown: \.found.coolsFor), .seconds("nextStartSeconds", ifKnown: \.found.startsIn),
        .integer("connectFailures", \.found.standing.failures), .flag("probing", \.found.standing.isProbing),
        .flag("givenUp", \.found.standing.isGivenUp),
        .seconds("paceSeconds", ifKnown: { $0.found.standing.pace == .none ? nil : $0.found.standing.pace.interval }),
        .integer("limit", ifKnown: \.found.standing.rule?.limit), .seconds("intervalSeconds", ifKnown: \.found.standing.rule?.interval),
        .seconds("pauseSeconds", ifKnown: \.found.standing.rule?.pause), .text("rule", ifKnown: \.found.standing.rule?.pattern),
    ])
}

extension Explanation {
    /// Whether the outcome would be used for a job now.
    package var isFresh: Bool { outcome.map { $0.isStored && $0.freshFor(at: now) > .zero } ?? false }

    /// For how long a holder has had the URL.
    package func held(by holder: URLLock) -> Duration { .milliseconds(max(0, now - holder.began)) }
}

extension OperatorRule {
    package static let fields = Fields<OperatorRule>([
        .text("host", \.pattern), .integer("limit", ifKnown: \.limit), .seconds("intervalSeconds", ifKnown: \.interval),
        .seconds("pauseSeconds", ifKnown: \.pause),
    ])

    /// The pattern of a rule as people write it: `example.com`, or `*.example.com` for each host below it. Nil for another text.
    package static func pattern(_ text: String) -> String? {
        guard text.hasPrefix("*.") else { return RequestedURL.host(named: text) }
        // A rule for a domain holds for all ports.
        return RequestedURL.host(named: String(text.dropFirst(2))).flatMap { $0.contains(":") ? nil : "*.\($0)" }
    }
}

/// The error classes of jobs that were given up.
package enum FailureClass {
    /// All classes except those of statuses, which are `http-` and the number.
    package static let names = FetchError.Kind.classNames + [ExchangeRequest.poisonClass, ExchangeRequest.unreadableClass]

    package static func isKnown(_ name: String) -> Bool {
        names.contains(name) || FetchError.Kind(className: name) != nil || name.wholeMatch(of: /http-[1-5]xx/) != nil
    }

    /// A class as people write it: `404` is `http-404`, and `5xx` is `http-5xx`, which stands for many.
    package static func named(_ text: String) -> String {
        text.wholeMatch(of: /[1-5]([0-9]{2}|xx)/) != nil ? "http-\(text)" : text
    }
}
