internal import Crawl
internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The queues of the cluster: how they stand, their batches, and the rules for hosts.
extension Gateway {
    private static let batch = Parameter("batch", in: .path, "The name of a batch.")
    private static let host = Parameter("host", in: .path, "A host such as example.com, or *.example.com for each host below it.")

    private static let batchShape = AnswerShape.ofQueue(Batch.fields.shape)
    private static let pauseShape = AnswerShape.ofQueue(["wasPaused": .flag])

    var queueEndpoints: [Endpoint] {
        [
            Endpoint(
                method: "GET", path: "/v1/status", summary: "How a queue stands: its jobs, totals, rates and workers.",
                parameters: [.queue], hasEffects: false, shape: QueueStatus.fields.shape,
                reply: asking { _, queue in
                    let status = QueueStatus(queue.name, try await queue.overview(), try await queue.cluster.server())
                    return QueueStatus.fields.json(of: status)
                }),
            Endpoint(
                method: "GET", path: "/v1/events",
                summary:
                    "How a queue stands, as server-sent events. An event 'status' comes at once, and then each second in which it has changed. "
                    + "An event 'problem' says that Redis is away, and 'ending' that the gateway ends.",
                parameters: [.queue], hasEffects: false, answers: [200: ["text/event-stream"]],
                reply: { .now(events(of: queue($0))) }),
            Endpoint(
                method: "GET", path: "/v1/history",
                summary:
                    "The last minutes of a queue in steps, the oldest first: the most jobs that ended in a second, and the most that were open.",
                parameters: [
                    .queue, Parameter("seconds", .number(1...900), "How far back; 900 without this parameter."),
                    Parameter("steps", .number(1...900), "How many steps; 90 without this parameter."),
                ],
                hasEffects: false,
                shape: .ofQueue([
                    "stepSeconds": .number, "throughput": .list(.optional(.number)), "depth": .list(.optional(.number)),
                ]),
                reply: asking { request, queue in
                    let (seconds, steps) = (request.items.number("seconds") ?? 900, request.items.number("steps") ?? 90)
                    let step = Duration.seconds(seconds) / steps
                    let history: QueueHistory
                    switch await looks.look(at: queue) {
                    case .status(let overview): history = overview.history
                    case .problem(let detail): throw Problem(503, "redis", detail)
                    }
                    return [
                        "schema": 1, "queue": .string(queue.name), "stepSeconds": JSONValue(step),
                        "throughput": .array(history.throughput(steps: steps, of: step).map { .rounded($0) }),
                        "depth": .array(history.depth(steps: steps, of: step).map { .rounded($0) }),
                    ]
                }),
            Endpoint(
                method: "GET", path: "/v1/explain",
                summary: "Explains a URL: its outcome, the worker that has it, and the state of its host.",
                parameters: [.queue, Parameter("url", .url, required: true, "The URL, without headers of its own.")],
                hasEffects: false, shape: URLLook.fields.shape,
                reply: { request throws(Problem) in
                    let url = try RequestedURL(asked: request.items.required("url"))
                    return reply(request) {
                        URLLook.fields.json(of: URLLook(url, try await $0.cluster.explain(url.id, host: url.host)))
                    }
                }),
            Endpoint(
                method: "GET", path: "/v1/batches",
                summary: "The batches of a queue, the latest first, as they were within the last second.",
                parameters: [.queue, Parameter("limit", .number(1...10_000), "How many at most; 50 without this parameter.")],
                hasEffects: false, shape: .ofQueue(["batches": .list(Batch.fields.shape), "total": .integer]),
                reply: asking { request, queue in
                    let found = try await looks.batches(of: queue, limit: request.items.number("limit") ?? 50)
                    return [
                        "schema": 1, "queue": .string(queue.name), "batches": Batch.fields.list(of: found.batches),
                        "total": .integer(found.total),
                    ]
                }),
            Endpoint(
                method: "GET", path: "/v1/batches/{batch}", summary: "A batch: its totals, its progress, its state.",
                parameters: [Self.batch, .queue], hasEffects: false, shape: Self.batchShape,
                reply: asking { try await Self.json(ofBatch: $0.items.required("batch"), $1) }),
            Endpoint(
                method: "POST", path: "/v1/batches/{batch}/cancel", summary: "Cancels a batch: its waiting jobs end now.",
                parameters: [Self.batch, .queue], shape: Self.batchShape,
                reply: changing { request, queue in
                    let name = request.items.required("batch")
                    _ = try await queue.cancel(batch: name)
                    return try await Self.json(ofBatch: name, queue)
                }),
            Endpoint(
                method: "POST", path: "/v1/pause", summary: "Pauses a queue: its jobs wait, and requests in flight are finished.",
                parameters: [.queue], shape: Self.pauseShape,
                reply: changing { ["schema": 1, "queue": .string($1.name), "wasPaused": .bool(try await $1.pause())] }),
            Endpoint(
                method: "POST", path: "/v1/resume", summary: "Lets a paused queue go on.", parameters: [.queue], shape: Self.pauseShape,
                reply: changing { ["schema": 1, "queue": .string($1.name), "wasPaused": .bool(try await $1.resume())] }),
        ] + hostEndpoints
    }

    private static func json(ofBatch name: String, _ queue: FetchQueue) async throws -> JSONValue {
        guard let batch = try await queue.batch(named: name) else { throw Problem.noSuchBatch(name, queue) }
        return .object([("schema", 1), ("queue", .string(queue.name))] + Batch.fields.members(of: batch))
    }

    // MARK: Events

    private static let interval = Duration.seconds(1)
    /// Proxies end connections that are silent for longer.
    private static let longestSilence = 15

    /// A queue's status as a stream of server-sent events. It ends with its client or with the gateway, and says so then.
    private func events(of queue: FetchQueue) -> HTTPServiceAnswer {
        var answer = HTTPServiceAnswer(
            headers: [(name: "Content-Type", value: "text/event-stream"), (name: "Cache-Control", value: "no-store")],
            body: .stream(length: nil) { stream in
                var last: QueueLook?
                var silent = 0
                repeat {
                    let next = await looks.look(at: queue)
                    if next != last {
                        last = next
                        silent = 0
                        try await stream.write(Array(next.event(of: queue).utf8))
                    } else if silent >= Self.longestSilence {
                        silent = 0
                        try await stream.write(Array(": still here\n\n".utf8))
                    }
                    silent += 1
                } while try await stream.pause(for: Self.interval)
                try await stream.write(Array("event: ending\ndata: {}\n\n".utf8))
            })
        answer.isEndless = true
        return answer
    }

    // MARK: Hosts

    private static let ruleShape: AnswerShape = ["schema": .integer] + OperatorRule.fields.shape

    private var hostEndpoints: [Endpoint] {
        [
            Endpoint(
                method: "GET", path: "/v1/hosts", summary: "The operator's rules for hosts.", hasEffects: false,
                shape: ["schema": .integer, "rules": .list(OperatorRule.fields.shape)],
                reply: asking { ["schema": 1, "rules": OperatorRule.fields.list(of: try await $1.cluster.hostRules())] }),
            Endpoint(
                method: "PUT", path: "/v1/hosts/{host}",
                summary: "Gives a host, or each host of a domain, a limit, an interval or a pause.",
                parameters: [
                    Self.host, Parameter("limit", .number(1...HostRule.highestLimit), "How many requests the host gets at once."),
                    Parameter("intervalSeconds", .seconds, "The least time from one request to the next."),
                    Parameter("pauseSeconds", .number(1...31_536_000), "For how long no request starts from now on."),
                ], shape: Self.ruleShape,
                reply: { request throws(Problem) in
                    let rule = OperatorRule(
                        try pattern(request), limit: request.items.number("limit"),
                        interval: request.items.seconds("intervalSeconds"),
                        pause: request.items.number("pauseSeconds").map { .seconds($0) })
                    guard rule.limit != nil || rule.interval != nil || rule.pause != nil else {
                        throw .badRequest("A rule has a limit, intervalSeconds or pauseSeconds.")
                    }
                    return reply(request) { queue in
                        try await queue.cluster.set(rule)
                        return .object([(key: "schema", value: 1)] + OperatorRule.fields.members(of: rule))
                    }
                }),
            Endpoint(
                method: "DELETE", path: "/v1/hosts/{host}", summary: "Clears the rule for a host or a domain.", parameters: [Self.host],
                shape: ["schema": .integer, "host": .text, "cleared": .flag],
                reply: { request throws(Problem) in
                    let pattern = try pattern(request)
                    return reply(request) { queue in
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
