import ClusterState
import CommandLineKit
import Gannet
import GannetBasics
import HTTPEngine

/// `gannet explain URL`: why a URL would be fetched now, or why not.
struct ExplainCommand: Command {
    static let spec = CommandSpec(
        "explain",
        summary: "Tell what is known of a URL: its outcome, the worker that has it, and the state of its host.",
        positional: URLArgument.positional,
        flags: [HeaderOption.header.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            Example("gannet explain https://example.com/a.jpg", "Tells why the URL would be fetched now, or why not."),
            Example("gannet explain 3fa94c0d1e2f", "Tells the same of the URL whose id begins with these digits."),
        ])

    private let url: URLArgument
    private let json: Bool
    private let target: QueueTarget

    init(_ arguments: Arguments) throws {
        json = arguments.isSet(CommonFlags.json)
        target = try QueueTarget(arguments)
        url = try URLArgument(arguments)
    }

    func run() async throws -> ExitStatus {
        let report = try await target.withCluster(looking: true) { cluster in
            let (url, _) = try await url.find(in: cluster, queue: target.queue, target.console)
            return ExplanationReport(url, try await cluster.explain(url.id, host: url.host))
        }
        if json {
            try target.console.print(report.json.text)
        } else {
            try target.console.print(prose: report.text, indent: ExplanationReport.indent)
        }
        return .done
    }
}

/// The state of a URL, for people and for scripts.
private struct ExplanationReport: Sendable {
    private let url: RequestedURL
    private let found: Explanation

    init(_ url: RequestedURL, _ found: Explanation) {
        self.url = url
        self.found = found
    }

    private var known: URLOutcome? { found.outcome }

    /// Where the values of ``text`` begin.
    static let indent = 9

    var text: String {
        var rows = [("url", url.canonical), ("id", url.id.short)]
        if url.hasOtherHeaders { rows.append(("headers", "some, whose names only its batch knows")) }
        if !url.headers.names.isEmpty { rows.append(("headers", url.headers.names.joined(separator: ", "))) }
        rows.append(("outcome", outcome))
        if let known {
            let content = known.content
            if let digest = content.digest { rows.append(("body", "\(Amounts.bytes(content.size)), sha256 \(digest.hexadecimal)")) }
            if let type = content.fields[.contentType] { rows.append(("type", type)) }
            if let file = content.fields[.file] { rows.append(("file", file)) }
            rows.append(known.isNegative ? ("retry", retry(known)) : ("fresh", freshness(known)))
        }
        rows.append(("held by", holder))
        if found.followers + found.waiters > 0 {
            rows.append(
                ("waiting", "\(Amounts.count(found.followers, "job")), \(Amounts.count(found.waiters, "calling program"))"))
        }
        rows.append(("host", "\(url.host): \(host)"))
        if let rule = found.rule { rows.append(("rule", "for \(rule.subject): \(rule.words)")) }
        return rows.map { $0.0 + String(repeating: " ", count: Self.indent - $0.0.count) + $0.1 }.joined(separator: "\n")
    }

    private var outcome: String {
        if found.isOutcomeForeign { return "written by a newer version of gannet" }
        guard let known else { return "none is kept: a job for it is fetched" }
        let age = "\(Amounts.time(known.age(at: found.now))) ago"
        if let failure = known.failure { return "failed \(age): \(failure.sentence)" }
        return "fetched \(age)" + (known.content.httpStatus.map { ", HTTP \($0)" } ?? "")
    }

    private func retry(_ known: URLOutcome) -> String {
        guard isFresh else { return "with the next job for this URL" }
        return "in \(Amounts.time(known.freshFor(at: found.now))); until then jobs for this URL are skipped"
    }

    private func freshness(_ known: URLOutcome) -> String {
        if !known.isStored { return "no: it is only for callers that asked before it came" }
        return isFresh ? "for another \(Amounts.time(known.freshFor(at: found.now)))" : "no: the next job for this URL asks the origin"
    }

    private var isFresh: Bool { known.map { $0.isStored && $0.freshFor(at: found.now) > .zero } ?? false }

    private var holder: String {
        guard let holder = found.holder else { return "nobody" }
        let since = "for \(Amounts.time(since(holder)))"
        let lease = holder.left > .zero ? "its lease has \(Amounts.time(holder.left)) left" : "its lease has ended"
        switch holder.kind {
        case .worker: return "a worker, \(since), for a job of the queue '\(holder.queue ?? "?")'; \(lease)"
        case .program: return "a program without a queue, \(since); \(lease)"
        case .retry where holder.isSuspect:
            let who = holder.crashes > 1 ? "it waits for a worker that has nothing else" : "workers try such URLs a few at a time"
            return "nobody: \(Amounts.count(holder.crashes, "worker")) died with the URL, and \(who)"
        case .retry: return "nobody: the URL waits for its next attempt"
        }
    }

    private func since(_ holder: Explanation.Holder) -> Duration { .milliseconds(max(0, found.now - holder.began)) }

    private var host: String {
        var parts = ["\(Amounts.count(found.running, "request")) in flight"]
        if let pause = found.coolsFor { parts.append("cools down for another \(Amounts.time(pause))") }
        if let pause = found.startsIn { parts.append("the next may start in \(Amounts.time(pause))") }
        if found.isGivenUp { parts.append("given up: jobs that would have to wait for it fail") }
        if found.isProbing { parts.append("one request at a time until one succeeds") }
        if found.failures > 0 { parts.append("\(Amounts.count(found.failures, "failure")) to connect in a row") }
        return parts.joined(separator: ", ")
    }

    var json: JSONValue {
        [
            "schema": 1, "url": .string(url.canonical), "id": .string(url.id.bytes.hexadecimal),
            "headers": .array(url.headers.names.map { .string($0) }),
            "cached": .bool(known.map { !$0.isNegative } ?? false),
            "outcome": known.map(json) ?? .null, "holder": found.holder.map(json) ?? .null,
            "waitingJobs": .integer(found.followers), "waitingCallers": .integer(found.waiters),
            "host": [
                "name": .string(url.host), "inFlight": .integer(found.running),
                "coolDownSeconds": JSONValue(found.coolsFor), "nextStartSeconds": JSONValue(found.startsIn),
                "connectFailures": .integer(found.failures), "probing": .bool(found.isProbing),
                "givenUp": .bool(found.isGivenUp),
                "limit": JSONValue(found.rule?.limit), "intervalSeconds": JSONValue(found.rule?.interval),
                "pauseSeconds": JSONValue(found.rule?.pause), "rule": JSONValue(found.rule?.pattern),
            ],
        ]
    }

    private func json(_ known: URLOutcome) -> JSONValue {
        let content = known.content
        return [
            "failed": .bool(known.isNegative), "fresh": .bool(isFresh), "ageSeconds": JSONValue(known.age(at: found.now)),
            "freshForSeconds": JSONValue(known.freshFor(at: found.now)), "httpStatus": JSONValue(content.httpStatus),
            "bytes": content.digest == nil ? .null : .integer(content.size), "sha256": JSONValue(content.digest?.hexadecimal),
            "contentType": JSONValue(content.fields[.contentType]), "file": JSONValue(content.fields[.file]),
            "error": known.failure.map { ["class": .string($0.kind), "message": .string($0.sentence)] } ?? .null,
        ]
    }

    private func json(_ holder: Explanation.Holder) -> JSONValue {
        [
            "kind": .string(holder.kind.rawValue), "queue": JSONValue(holder.queue), "seconds": JSONValue(since(holder)),
            "leaseSeconds": JSONValue(holder.left),
        ]
    }
}
