import Gannet

/// What is known of a URL, as people and as scripts read it.
struct ExplanationReport: Sendable {
    private let found: URLExplanation

    init(_ found: URLExplanation) { self.found = found }

    var text: String {
        var rows = [("url", found.canonical), ("id", found.id)]
        if !found.headerNames.isEmpty { rows.append(("headers", found.headerNames.joined(separator: ", "))) }
        rows.append(("outcome", outcome))
        if let known = found.outcome {
            if let digest = known.sha256 { rows.append(("body", "\(Amounts.bytes(known.size)), sha256 \(digest)")) }
            if let type = known.contentType { rows.append(("type", type)) }
            if let file = known.file { rows.append(("file", file)) }
            rows.append(("fresh", freshness(known)))
        }
        rows.append(("held by", holder))
        if found.waitingJobs + found.waitingCallers > 0 {
            rows.append(
                ("waiting", "\(Amounts.count(found.waitingJobs, "job")), \(Amounts.count(found.waitingCallers, "calling program"))"))
        }
        rows.append(("host", "\(found.host): \(host)"))
        return rows.map { $0.0 + String(repeating: " ", count: 9 - $0.0.count) + $0.1 }.joined(separator: "\n")
    }

    private var outcome: String {
        if found.isOutcomeForeign { return "written by a newer version of gannet" }
        guard let known = found.outcome else { return "none is kept: a job for it is fetched" }
        let age = "\(Amounts.time(known.age)) ago"
        if let failure = known.failure { return "failed \(age): \(failure.sentence)" }
        return "fetched \(age)" + (known.httpStatus.map { ", HTTP \($0)" } ?? "")
    }

    private func freshness(_ known: KnownPage) -> String {
        if found.isForFollowersOnly { return "no: only for those who asked before it came" }
        return isFresh ? "for another \(Amounts.time(known.freshFor))" : "no: its origin is asked for jobs that come now"
    }

    private var isFresh: Bool { !found.isForFollowersOnly && found.outcome.map { $0.freshFor > .zero } ?? false }

    private var holder: String {
        guard let holder = found.holder else { return "nobody" }
        let since = "for \(Amounts.time(holder.since))"
        let lease = holder.leaseLeft > .zero ? "its lease has \(Amounts.time(holder.leaseLeft)) left" : "its lease has ended"
        switch holder.kind {
        case .worker: return "a worker, \(since), for a job of the queue '\(holder.queue ?? "?")'; \(lease)"
        case .program: return "a program of its own, \(since); \(lease)"
        case .retry: return "nobody, it waits for its next attempt; others wait for that"
        }
    }

    private var host: String {
        let state = found.hostState
        var parts = ["\(Amounts.count(state.inFlight, "request")) in flight"]
        if let pause = state.coolsFor { parts.append("cools down for another \(Amounts.time(pause))") }
        if let pause = state.startsIn { parts.append("the next may start in \(Amounts.time(pause))") }
        if state.isGivenUp { parts.append("given up: what would have to wait for it fails") }
        if state.isProbed { parts.append("one request at a time until one succeeds") }
        if state.connectFailures > 0 { parts.append("\(Amounts.count(state.connectFailures, "failure")) to connect in a row") }
        if let limit = state.limit { parts.append("a rule limits it to \(limit)") }
        return parts.joined(separator: ", ")
    }

    var json: JSONValue {
        [
            "schema": 1, "url": .string(found.canonical), "id": .string(found.id),
            "headers": .array(found.headerNames.map { .string($0) }),
            "cached": .bool(found.outcome.map { $0.failure == nil } ?? false),
            "outcome": found.outcome.map(json) ?? .null, "holder": found.holder.map(Self.json) ?? .null,
            "waitingJobs": .integer(found.waitingJobs), "waitingCallers": .integer(found.waitingCallers),
            "host": [
                "name": .string(found.host), "inFlight": .integer(found.hostState.inFlight),
                "coolDownSeconds": JSONValue(found.hostState.coolsFor), "nextStartSeconds": JSONValue(found.hostState.startsIn),
                "connectFailures": .integer(found.hostState.connectFailures), "probing": .bool(found.hostState.isProbed),
                "givenUp": .bool(found.hostState.isGivenUp),
                "limit": JSONValue(found.hostState.limit), "intervalSeconds": JSONValue(found.hostState.interval),
            ],
        ]
    }

    private func json(_ known: KnownPage) -> JSONValue {
        [
            "failed": .bool(known.failure != nil), "fresh": .bool(isFresh), "ageSeconds": JSONValue(known.age),
            "freshForSeconds": JSONValue(known.freshFor), "httpStatus": JSONValue(known.httpStatus),
            "bytes": known.sha256 == nil ? .null : .integer(known.size), "sha256": JSONValue(known.sha256),
            "contentType": JSONValue(known.contentType), "file": JSONValue(known.file),
            "error": known.failure.map { ["class": .string($0.kind), "message": .string($0.sentence)] } ?? .null,
        ]
    }

    private static func json(_ holder: URLExplanation.Holder) -> JSONValue {
        [
            "kind": .string(holder.kind.rawValue), "queue": JSONValue(holder.queue), "seconds": JSONValue(holder.since),
            "leaseSeconds": JSONValue(holder.leaseLeft),
        ]
    }
}
