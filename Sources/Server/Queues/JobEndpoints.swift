internal import Crawl
internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The jobs of the queues: adding, listing, trying again and deleting them.
extension Gateway {
    private static let host = Parameter("host", .text, "Only jobs of this host, with its port unless that is 80 or 443.")
    private static let errorClass = Parameter(
        "class", .errorClass, "Only dead jobs of this class of failures, such as timeout or http-404.")
    private static let batch = Parameter("batch", .text, "Only jobs of this batch.")
    private static let text = Parameter("text", .words(200), "Only jobs with this text in their URLs. Capital letters count as small ones.")
    private static let url = Parameter("url", .url, "Only jobs of this URL.")
    private static let limit = Parameter("limit", .number(1...1000), "How many at most; 50 without this parameter.")
    private static let most = Parameter("limit", .number(1...1_000_000_000), "How many jobs at most.")

    /// How many parts of a queue one answer looks through, of 500 jobs or elements each. A page of a search may so be empty, and have a cursor.
    private static let parts = 40
    /// How many jobs one answer counts.
    private static let mostCounted = 10_000

    /// The parameters that say which jobs are meant.
    private static func jobs(_ states: [JobState], required: Bool = false) -> [Parameter] {
        let state = Parameter("state", .choice(states.map(\.rawValue)), required: required, "The state of the jobs.")
        return [.queue, state, host, errorClass, batch, text, url]
    }

    /// The shape of answers about jobs of a state.
    private static func shape(_ members: AnswerShape) -> AnswerShape {
        .ofQueue(["state": .word(JobState.allCases.map(\.rawValue))] + members)
    }

    private static let sweepShape = AnswerShape.ofQueue([
        "state": .text, "change": .word(["retried", "deleted"]), "count": .integer, "stuck": .integer,
    ])

    var jobEndpoints: [Endpoint] {
        [
            Endpoint(
                method: "POST", path: "/v1/jobs",
                summary:
                    "Adds URLs to a queue. The body has one on each line, or is JSON lines with a field 'url', and may be of any length.",
                parameters: [
                    .queue,
                    Parameter(
                        "batch", .words(FetchQueue.longestBatchName),
                        "A name for the batch. A batch of the same name goes on where it stopped."),
                    Parameter("priority", .choice(Priority.allCases.map(\.rawValue)), "Before or behind the other jobs of the queue."),
                    Parameter("refresh", .flag, "Whether the origin is asked even where an outcome is known."),
                    Parameter(
                        "robots", .choice(Manners.Robots.allCases.map(\.rawValue)),
                        "Whether the robots.txt of a site decides which URLs are fetched; ignore without this parameter."),
                    Parameter(
                        "optOuts", .choice(Manners.OptOuts.allCases.map(\.rawValue)),
                        "The treatment of answers that reserve their use; heed where robots.txt is obeyed, and ignore elsewhere."),
                    Parameter("keepWire", .flag, "Whether requests and answers are kept as they go over the wire, for archives."),
                    Parameter("cache", .flag, "Whether the bodies are a mere cache, which makes room in Redis before an export."),
                ],
                answers: [200: ["application/json"], 422: ["application/json", "application/problem+json"]],
                shape: .ofQueue([
                    "batch": .optional(.text), "accepted": .integer, "invalid": .integer,
                    "complaints": .list(["place": .text, "reason": .text]),
                ]), takes: ["text/plain", "application/x-ndjson"],
                reply: { request throws(Problem) in
                    if let problem = over ?? away { throw problem }
                    let upload = try JobUpload(request, queue: queue(request))
                    return .later { await upload.answer() }
                }),
            Endpoint(
                method: "GET", path: "/v1/jobs",
                summary: "Jobs of one state, a page at a time. A page ends with its cursor after a bounded search, even with no job on it.",
                parameters: Self.jobs(JobState.allCases) + [
                    Parameter("cursor", .text, "The cursor of the page before."), Self.limit,
                ],
                hasEffects: false, shape: Self.shape(["jobs": .list(ListedJob.fields.shape), "cursor": .optional(.text)]), reply: list),
            Endpoint(
                method: "GET", path: "/v1/jobs/count",
                summary: "How many jobs a list or a change would be about. The count ends after a bounded search, and says so.",
                parameters: Self.jobs(JobState.allCases), hasEffects: false,
                shape: Self.shape(["count": .integer, "atLeast": .flag]), reply: count),
            Endpoint(
                method: "GET", path: "/v1/jobs/hosts",
                summary: "The hosts of dead jobs and their classes of failures, the most first, as they were within the last second.",
                parameters: [.queue], hasEffects: false,
                shape: .ofQueue(["hosts": .list(["host": .text, "class": .text, "count": .integer]), "atLeast": .flag]),
                reply: asking { _, queue in
                    let found = try await looks.deadHosts(of: queue)
                    let hosts = found.kinds.map { kind, count -> JSONValue in
                        ["host": .string(kind.host), "class": .string(kind.errorClass), "count": .integer(count)]
                    }
                    return ["schema": 1, "queue": .string(queue.name), "hosts": .array(hosts), "atLeast": .bool(found.isMore)]
                }),
            Endpoint(
                method: "POST", path: "/v1/jobs/retry", summary: "Tries dead jobs again, or delayed ones now.",
                parameters: Self.jobs([.dead, .delayed]) + [Self.most], shape: Self.sweepShape,
                reply: { request throws(Problem) in try sweep(request, .dead, "retried") { try await $0.retry($1, limit: $2) } }),
            Endpoint(
                method: "DELETE", path: "/v1/jobs", summary: "Deletes jobs of one state. They count as cancelled; dead ones as failed.",
                parameters: Self.jobs([.ready, .parked, .delayed, .dead], required: true) + [Self.most], shape: Self.sweepShape,
                reply: { request throws(Problem) in try sweep(request, .ready, "deleted") { try await $0.delete($1, limit: $2) } }),
        ]
    }

    /// The jobs that a request is about, but for their batch.
    private func selection(_ request: EndpointRequest, usual: JobState) throws(Problem) -> JobSelection {
        let items = request.items
        let state = items["state"].flatMap { JobState(rawValue: $0) }
        let errorClass = items["class"]
        let host = items["host"].flatMap { RequestedURL.host(named: $0) }
        var selection = JobSelection(
            state ?? (errorClass == nil ? usual : .dead), JobFilter(host: host, errorClass: errorClass))
        if errorClass != nil, selection.state != .dead { throw .badRequest("Only dead jobs have a class: leave 'state' out, or say dead.") }
        if let named = items["host"], host == nil {
            throw .badRequest(
                RequestedURL.host(ofURL: named).map { "A host is named without the rest of its URL: say '\($0)'." }
                    ?? "The value of 'host' is no host: say one such as 'example.com'.")
        }
        selection.filter.text = items["text"]
        if let text = items["url"] {
            let url = try RequestedURL(asked: text)
            selection.filter.url = url.id
            selection.filter.host = url.host
        }
        return selection
    }

    /// The same with the number that the queue has for the batch.
    private func numbered(_ selection: JobSelection, _ request: EndpointRequest, in queue: FetchQueue) async throws -> JobSelection {
        guard let batch = request.items["batch"] else { return selection }
        var selection = selection
        selection.filter.batch = try await queue.number(ofBatch: batch)
        if selection.filter.batch == nil { throw Problem.noSuchBatch(batch, queue) }
        return selection
    }

    private func list(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let selection = try selection(request, usual: .active)
        guard let cursor = request.items["cursor"].map({ JobCursor($0) }) ?? JobCursor() else {
            throw .badRequest("This is no cursor of an earlier page.")
        }
        let limit = request.items.number("limit") ?? 50
        return reply(request) { queue in
            let page = try await queue.jobs(
                try await numbered(selection, request, in: queue), from: cursor, limit: limit, parts: Self.parts)
            return [
                "schema": 1, "queue": .string(queue.name), "state": .string(selection.state.rawValue),
                "jobs": ListedJob.fields.list(of: page.jobs),
                "cursor": JSONValue(page.next?.text),
            ]
        }
    }

    private func count(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let selection = try selection(request, usual: .active)
        return reply(request) { queue in
            let selection = try await numbered(selection, request, in: queue)
            let isPlain = selection.filter == JobFilter()
            let counted = try await queue.count(selection, limit: isPlain ? .max : Self.mostCounted, parts: Self.parts)
            return [
                "schema": 1, "queue": .string(queue.name), "state": .string(selection.state.rawValue), "count": .integer(counted.count),
                "atLeast": .bool(counted.isMore),
            ]
        }
    }

    private func sweep(
        _ request: EndpointRequest, _ usual: JobState, _ verb: String,
        _ change: @escaping @Sendable (FetchQueue, JobSelection, Int) async throws -> JobSweep
    ) throws(Problem) -> HTTPServiceReply {
        let selection = try selection(request, usual: usual)
        let limit = request.items.number("limit") ?? .max
        if let over { throw over }
        return reply(request) { queue in
            let swept = try await change(queue, try await numbered(selection, request, in: queue), limit)
            return [
                "schema": 1, "queue": .string(queue.name), "state": .string(selection.state.rawValue), "change": .string(verb),
                "count": .integer(swept.count), "stuck": .integer(swept.stuck),
            ]
        }
    }
}
