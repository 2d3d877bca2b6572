package import GannetBase
internal import GannetHTTP
package import GannetQueue

// The values of a cluster as programs read them: `--json` of the commands, and the gateway's API. The names are a contract and only grow, and
// an unknown value is null.

extension QueueOverview {
    /// - Parameter server: The Redis, where it was asked as well.
    package func json(_ name: String, _ server: ServerStatus?) -> JSONValue {
        [
            "schema": 1,
            "queue": .string(name),
            "paused": .bool(counts.isPaused),
            "jobs": [
                "ready": .integer(counts.ready), "active": .integer(counts.active), "parked": .integer(counts.parked),
                "delayed": .integer(counts.delayed), "dead": .integer(counts.dead),
            ],
            "oldestReadySeconds": JSONValue(oldestAge),
            "totals": [
                "enqueued": .integer(counts.enqueued), "done": .integer(counts.done), "fetched": .integer(counts.fetched),
                "revalidated": .integer(counts.revalidated), "cached": .integer(counts.cached), "failed": .integer(counts.failed),
                "cancelled": .integer(counts.cancelled), "retried": .integer(counts.retried), "crashed": .integer(counts.crashed),
                "fenced": .integer(counts.fenced), "doubleFetches": .integer(counts.doubleFetches), "bytes": .integer(counts.bytes),
            ],
            "rate": [
                "donePerSecond": .rounded(rate?.donePerSecond), "bytesPerSecond": .rounded(rate?.bytesPerSecond),
            ],
            "etaSeconds": JSONValue(remaining),
            "waits": [
                "held": .integer(waits.held), "hosts": .integer(waits.hosts), "delayed": .integer(waits.delayed),
                "silentHosts": .array(
                    waits.silent.map { .object($0.members + [("givenUpWithinSeconds", JSONValue(waits.givenUpWithin($0)))]) }),
                "givenUpWithinSeconds": JSONValue(waits.givenUpWithin),
            ],
            "heldBatches": .array(holding.map { ["queue": .string($0.queue), "batch": .string($0.batch)] }),
            "failures": .array(failures.sorted.map { ["class": .string($0.errorClass), "count": .integer($0.count)] }),
            "workers": .array(sortedWorkers.map { $0.json(at: now) }),
            "hosts": .array(hosts.map(\.json)),
            "otherQueues": .array(
                others.map { ["queue": .string($0.name), "notEnded": .integer($0.open), "workers": .integer($0.workers)] }),
            "partitions": partitions.map(\.json) ?? .null,
            "redis": server.map { server in
                [
                    "version": JSONValue(server.version), "usedMemoryBytes": JSONValue(server.usedMemory),
                    "maxMemoryBytes": JSONValue(server.memoryLimit.flatMap { $0 == 0 ? nil : $0 }),
                    "pingMilliseconds": .decimal(server.ping / .milliseconds(1)),
                ]
            } ?? .null,
        ]
    }
}

extension PartitionOverview {
    fileprivate var json: JSONValue {
        [
            "count": .integer(count), "primaries": .integer(primaries),
            "away": .array(
                away.map {
                    [
                        "primary": JSONValue($0.primary), "partitions": .array($0.partitions.map { .integer($0) }),
                        "reason": .string($0.sentence),
                    ]
                }),
        ]
    }
}

extension WorkerStatus {
    fileprivate func json(at now: Int) -> JSONValue {
        [
            "id": .string(id), "host": JSONValue(record?.machine), "pid": JSONValue(record?.processID),
            "version": JSONValue(record?.version), "concurrency": JSONValue(record?.concurrency), "active": JSONValue(record?.active),
            "heartbeatSeconds": JSONValue(heartbeat(at: now)), "state": JSONValue(state(at: now)?.rawValue),
        ]
    }

    /// The worker in a list of workers, with everything that its record has.
    package func json(at now: Int, of queue: String) -> JSONValue {
        [
            "queue": .string(queue), "id": .string(id), "host": JSONValue(record?.machine), "pid": JSONValue(record?.processID),
            "version": JSONValue(record?.version), "ageSeconds": JSONValue(age(at: now)),
            "heartbeatSeconds": JSONValue(heartbeat(at: now)), "concurrency": JSONValue(record?.concurrency),
            "active": JSONValue(record?.active), "endedPerSecond": .rounded(record?.endedPerSecond),
            "partitions": record?.life.map { .array($0.partitions.map { .integer($0) }) } ?? .null,
            "draining": .bool(isDraining), "state": JSONValue(state(at: now)?.rawValue),
        ]
    }
}

extension HostStatus {
    fileprivate var json: JSONValue {
        [
            "name": .string(name), "inFlight": .integer(running), "limit": JSONValue(limit),
            "endedPerSecond": .rounded(endedPerSecond), "failureShare": .rounded(failureShare), "averageSeconds": JSONValue(average),
            "longestSeconds": JSONValue(running > 0 ? longest : nil), "restSeconds": JSONValue(rest), "givenUp": .bool(isGivenUp),
        ]
    }
}

extension Explanation {
    /// - Parameter url: The URL that was asked for.
    package func json(of url: RequestedURL) -> JSONValue {
        [
            "schema": 1, "url": .string(url.canonical), "id": .string(url.id.bytes.hexadecimal),
            "headers": .array(url.headers.names.map { .string($0) }),
            "cached": .bool(outcome.map { !$0.isNegative } ?? false),
            "outcome": outcome.map { json(of: $0) } ?? .null, "holder": holder.map { json(of: $0) } ?? .null,
            "waitingJobs": .integer(followers), "waitingCallers": .integer(waiters),
            "host": [
                "name": .string(url.host), "inFlight": .integer(standing.running),
                "coolDownSeconds": JSONValue(coolsFor), "nextStartSeconds": JSONValue(startsIn),
                "connectFailures": .integer(standing.failures), "probing": .bool(standing.isProbing),
                "givenUp": .bool(standing.isGivenUp),
                "paceSeconds": standing.pace == .none ? .null : JSONValue(standing.pace.interval),
                "limit": JSONValue(standing.rule?.limit), "intervalSeconds": JSONValue(standing.rule?.interval),
                "pauseSeconds": JSONValue(standing.rule?.pause), "rule": JSONValue(standing.rule?.pattern),
            ],
        ]
    }

    /// Whether the outcome would be used for a job now.
    package var isFresh: Bool { outcome.map { $0.isStored && $0.freshFor(at: now) > .zero } ?? false }

    /// For how long a holder has had the URL.
    package func held(by holder: Holder) -> Duration { .milliseconds(max(0, now - holder.began)) }

    private func json(of outcome: URLOutcome) -> JSONValue {
        let content = outcome.content
        return [
            "failed": .bool(outcome.isNegative), "fresh": .bool(isFresh), "ageSeconds": JSONValue(outcome.age(at: now)),
            "freshForSeconds": JSONValue(outcome.freshFor(at: now)),
            "tookSeconds": JSONValue(.milliseconds(outcome.ended - outcome.began)), "phases": content.phases?.json ?? .null,
            "httpStatus": JSONValue(content.httpStatus),
            "bytes": content.digest == nil ? .null : .integer(content.size), "sha256": JSONValue(content.digest?.hexadecimal),
            "contentType": JSONValue(content.fields[.contentType]), "file": JSONValue(content.fields[.file]),
            "optOut": JSONValue(content.fields[.optOut]),
            "error": outcome.failure.map { ["class": .string($0.kind), "message": .string($0.sentence)] } ?? .null,
        ]
    }

    private func json(of holder: Holder) -> JSONValue {
        [
            "kind": .string(holder.kind.rawValue), "queue": JSONValue(holder.queue), "seconds": JSONValue(held(by: holder)),
            "leaseSeconds": JSONValue(holder.left),
        ]
    }
}

extension Batch {
    /// Its members in a list of batches.
    package var members: [(key: String, value: JSONValue)] {
        [
            ("batch", .string(name)), ("state", .string(state.rawValue)),
            ("priority", .string(options.priority.rawValue)), ("refresh", .bool(options.refresh)),
            ("maxAgeSeconds", JSONValue(options.maximumAge)), ("headers", .array(options.headers.lines.map { .string($0.name) })),
            ("robots", .string(options.manners.robots.rawValue)), ("optOuts", .string(options.manners.optOuts.rawValue)),
            ("keepsWire", .bool(options.keeping == .exchanges)), ("cache", .bool(options.keeping == .cache)),
            ("traceID", options.trace.map { .string($0.traceID) } ?? .null), ("ageSeconds", JSONValue(age)),
            ("progress", progress.map { .decimal($0) } ?? .null), ("total", .integer(total)), ("done", .integer(done)),
            ("failed", .integer(failed - disallowed)), ("disallowed", .integer(disallowed)),
            ("cancelled", .integer(cancelled)), ("ready", .integer(ready)),
            ("active", .integer(active)), ("parked", .integer(parked)), ("delayed", .integer(delayed)),
            ("lostPartitions", .integer(lostParts)),
        ]
    }
}

extension ListedJob {
    /// - Parameters:
    ///   - now: Queue time, ms.
    ///   - batch: The name of its batch; nil for a batch that is remembered no longer.
    package func json(at now: Int, batch: String?) -> JSONValue {
        let since = since(at: now)
        return [
            "state": .string(state.rawValue), "id": .string(entry.id.bytes.hexadecimal), "url": .string(shownURL),
            "host": .string(entry.host), "batch": JSONValue(batch),
            "ageSeconds": JSONValue(age(at: now)),
            "activeSeconds": JSONValue(state == .active ? since : nil),
            "dueInSeconds": JSONValue(state == .delayed ? since.map { .zero - $0 } : nil),
            "deadSeconds": JSONValue(state == .dead ? since : nil), "failures": .integer(failures),
            "crashes": .integer(crashes), "httpStatus": JSONValue(error?.httpStatus),
            "error": errorClass.map { ["class": .string($0), "message": JSONValue(errorMessage)] } ?? .null,
            "phases": error?.phases?.json ?? .null,
        ]
    }

    /// Without credentials.
    package var shownURL: String { RedactedURL.withoutSecrets(entry.url) }
    package var errorClass: String? { error?.fields[.errorClass] }
    /// Why the job failed, if it did.
    package var errorMessage: String? { errorClass == nil ? error?.fields[.errorMessage] : error?.failureSentence }
}

extension PhaseTimes {
    /// Seconds, in the order of time.
    package var json: JSONValue {
        .object(Self.all.map { ($0.key + "Seconds", JSONValue(.milliseconds(Int(self[keyPath: $0.path])))) })
    }
}

extension WaitingHost {
    fileprivate var members: [(key: String, value: JSONValue)] {
        [
            ("host", .string(name)), ("state", .string(state.rawValue)), ("failures", .integer(failures)), ("class", JSONValue(errorClass)),
            ("nextRequestSeconds", JSONValue(isGivenUp ? nil : rest)), ("silentSeconds", JSONValue(since)),
        ]
    }
}

extension HostBacklog {
    package var json: JSONValue {
        .object(
            host.members + [
                ("givenUpWithinSeconds", JSONValue(givenUpWithin)), ("message", JSONValue(reason)), ("jobs", .integer(jobs)),
            ])
    }
}

extension OperatorRule {
    package var members: [(key: String, value: JSONValue)] {
        [
            (key: "host", value: .string(pattern)), (key: "limit", value: JSONValue(limit)),
            (key: "intervalSeconds", value: JSONValue(interval)), (key: "pauseSeconds", value: JSONValue(pause)),
        ]
    }

    /// The pattern of a rule as people write it: `example.com`, or `*.example.com` for each host below it. Nil for another text.
    package static func pattern(_ text: String) -> String? {
        let mark = text.hasPrefix("*.") ? "*." : ""
        let name = text.dropFirst(mark.count)
        guard !name.isEmpty, !name.utf8.contains(where: { "/?#@*\\".utf8.contains($0) }) else { return nil }
        // An IPv6 address has colons, as a host with a port does.
        let literal = name.utf8.count { $0 == UInt8(ascii: ":") } > 1 && !name.hasPrefix("[") ? "[\(name)]" : String(name)
        let hasPort = literal.hasPrefix("[") ? !literal.hasSuffix("]") : literal.contains(":")
        guard !hasPort, let host = try? RequestedURL("http://\(literal)/").host else { return nil }
        return mark + host
    }
}

extension JSONValue {
    /// To the thousandth.
    package static func rounded(_ number: Double?) -> JSONValue { number.map { .decimal(($0 * 1000).rounded() / 1000) } ?? .null }
}
