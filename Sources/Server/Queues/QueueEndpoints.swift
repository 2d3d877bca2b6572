internal import Crawl
internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The queues of the cluster: how they stand, their batches, and the rules for hosts.
struct QueueEndpoints: Sendable {
    let access: QueueAccess

    static let queue = Parameter("queue", .name, "The queue; without this parameter it is the server's.")
    private static let batch = Parameter("batch", in: .path, "The name of a batch.")
    private static let host = Parameter("host", in: .path, "A host such as example.com, or *.example.com for each host below it.")

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: "GET", path: "/v1/status", summary: "How a queue stands: its jobs, totals, rates and workers.",
                parameters: [Self.queue], hasEffects: false, shape: .status,
                reply: { request throws(Problem) in
                    access.reply(request) { queue in
                        let status = QueueStatus(queue.name, try await queue.overview(), try await queue.cluster.server())
                        return QueueStatus.fields.json(of: status)
                    }
                }),
            Endpoint(
                method: "GET", path: "/v1/events",
                summary:
                    "How a queue stands, as server-sent events. An event 'status' comes at once, and then each second in which it has changed. "
                    + "An event 'problem' says that Redis is away, and 'ending' that the gateway ends.",
                parameters: [Self.queue], hasEffects: false, answers: [200: ["text/event-stream"]],
                reply: { request throws(Problem) in .now(StatusEvents(queue: access.queue(request), access: access).answer) }),
            Endpoint(
                method: "GET", path: "/v1/history",
                summary:
                    "The last minutes of a queue in steps, the oldest first: the most jobs that ended in a second, and the most that were open.",
                parameters: [
                    Self.queue, Parameter("seconds", .number(1...900), "How far back; 900 without this parameter."),
                    Parameter("steps", .number(1...900), "How many steps; 90 without this parameter."),
                ],
                hasEffects: false, shape: .history,
                reply: { request throws(Problem) in
                    let (seconds, steps) = (request.items.number("seconds") ?? 900, request.items.number("steps") ?? 90)
                    let step = Duration.seconds(seconds) / steps
                    return access.reply(request) { queue in
                        let history: QueueHistory
                        switch await access.looks.look(at: queue) {
                        case .status(let overview): history = overview.history
                        case .problem(let detail): throw Problem(503, "redis", detail)
                        }
                        return [
                            "schema": 1, "queue": .string(queue.name), "stepSeconds": JSONValue(step),
                            "throughput": .array(history.throughput(steps: steps, of: step).map { .rounded($0) }),
                            "depth": .array(history.depth(steps: steps, of: step).map { .rounded($0) }),
                        ]
                    }
                }),
            Endpoint(
                method: "GET", path: "/v1/explain",
                summary: "Explains a URL: its outcome, the worker that has it, and the state of its host.",
                parameters: [Self.queue, Parameter("url", .url, required: true, "The URL, without headers of its own.")],
                hasEffects: false, shape: .explanation,
                reply: { request throws(Problem) in
                    let url = try RequestedURL(asked: request.items.required("url"))
                    return access.reply(request) {
                        URLLook.fields.json(of: URLLook(url, try await $0.cluster.explain(url.id, host: url.host)))
                    }
                }),
            Endpoint(
                method: "GET", path: "/v1/batches",
                summary: "The batches of a queue, the latest first, as they were within the last second.",
                parameters: [Self.queue, Parameter("limit", .number(1...10_000), "How many at most; 50 without this parameter.")],
                hasEffects: false, shape: .batches,
                reply: { request throws(Problem) in
                    let limit = request.items.number("limit") ?? 50
                    return access.reply(request) { queue in
                        let found = try await access.looks.batches(of: queue, limit: limit)
                        return [
                            "schema": 1, "queue": .string(queue.name), "batches": Batch.fields.list(of: found.batches),
                            "total": .integer(found.total),
                        ]
                    }
                }),
            Endpoint(
                method: "GET", path: "/v1/batches/{batch}", summary: "A batch: its totals, its progress, its state.",
                parameters: [Self.batch, Self.queue], hasEffects: false, shape: .batch,
                reply: { request throws(Problem) in
                    let name = request.items.required("batch")
                    return access.reply(request) { try await Self.json(name, $0) }
                }),
            Endpoint(
                method: "POST", path: "/v1/batches/{batch}/cancel", summary: "Cancels a batch: its waiting jobs end now.",
                parameters: [Self.batch, Self.queue], shape: .batch,
                reply: { request throws(Problem) in
                    let name = request.items.required("batch")
                    return try access.change(request) { queue in
                        _ = try await queue.cancel(batch: name)
                        return try await Self.json(name, queue)
                    }
                }),
            Endpoint(
                method: "POST", path: "/v1/pause", summary: "Pauses a queue: its jobs wait, and requests in flight are finished.",
                parameters: [Self.queue], shape: .pause,
                reply: { request throws(Problem) in
                    try access.change(request) { ["schema": 1, "queue": .string($0.name), "wasPaused": .bool(try await $0.pause())] }
                }),
            Endpoint(
                method: "POST", path: "/v1/resume", summary: "Lets a paused queue go on.", parameters: [Self.queue], shape: .pause,
                reply: { request throws(Problem) in
                    try access.change(request) { ["schema": 1, "queue": .string($0.name), "wasPaused": .bool(try await $0.resume())] }
                }),
        ] + hostEndpoints
    }

    private static func json(_ name: String, _ queue: FetchQueue) async throws -> JSONValue {
        guard let batch = try await queue.batch(named: name) else {
            throw Problem(404, "no-such-batch", "There is no batch '\(name)' in the queue '\(queue.name)'.")
        }
        return .object([("schema", 1), ("queue", .string(queue.name))] + Batch.fields.members(of: batch))
    }

    private var hostEndpoints: [Endpoint] {
        [
            Endpoint(
                method: "GET", path: "/v1/hosts", summary: "The operator's rules for hosts.", hasEffects: false, shape: .rules,
                reply: { request throws(Problem) in
                    access.reply(request) { queue in
                        let rules = try await queue.cluster.hostRules()
                        return ["schema": 1, "rules": OperatorRule.fields.list(of: rules)]
                    }
                }),
            Endpoint(
                method: "PUT", path: "/v1/hosts/{host}",
                summary: "Gives a host, or each host of a domain, a limit, an interval or a pause.",
                parameters: [
                    Self.host, Parameter("limit", .number(1...HostRule.highestLimit), "How many requests the host gets at once."),
                    Parameter("intervalSeconds", .seconds, "The least time from one request to the next."),
                    Parameter("pauseSeconds", .number(1...31_536_000), "For how long no request starts from now on."),
                ], shape: .rule,
                reply: { request throws(Problem) in
                    let rule = OperatorRule(
                        try pattern(request), limit: request.items.number("limit"),
                        interval: request.items.seconds("intervalSeconds"),
                        pause: request.items.number("pauseSeconds").map { .seconds($0) })
                    guard rule.limit != nil || rule.interval != nil || rule.pause != nil else {
                        throw .badRequest("A rule has a limit, intervalSeconds or pauseSeconds.")
                    }
                    return access.reply(request) { queue in
                        try await queue.cluster.set(rule)
                        return .object([(key: "schema", value: 1)] + OperatorRule.fields.members(of: rule))
                    }
                }),
            Endpoint(
                method: "DELETE", path: "/v1/hosts/{host}", summary: "Clears the rule for a host or a domain.", parameters: [Self.host],
                shape: .cleared,
                reply: { request throws(Problem) in
                    let pattern = try pattern(request)
                    return access.reply(request) { queue in
                        guard try await queue.cluster.clearRule(pattern) else {
                            throw Problem(404, "no-such-rule", "There is no rule for '\(pattern)'.")
                        }
                        return ["schema": 1, "host": .string(pattern), "cleared": true]
                    }
                }),
        ]
    }

    private func pattern(_ request: EndpointRequest) throws(Problem) -> String {
        guard let pattern = OperatorRule.pattern(request.items.required("host")) else {
            throw .badRequest("This is no host: name one such as example.com or example.com:8080, or *.example.com for each host below it.")
        }
        return pattern
    }
}
