internal import Crawl
internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The jobs of the queues: adding, listing, trying again and deleting them.
struct JobEndpoints: Sendable {
    let access: QueueAccess

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

    private static func state(_ states: [JobState], required: Bool = false) -> Parameter {
        Parameter("state", .choice(states.map(\.rawValue)), required: required, "The state of the jobs.")
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: "POST", path: "/v1/jobs",
                summary:
                    "Adds URLs to a queue. The body has one on each line, or is JSON lines with a field 'url', and may be of any length.",
                parameters: [
                    QueueEndpoints.queue,
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
                shape: .accepted, takes: ["text/plain", "application/x-ndjson"],
                reply: { request throws(Problem) in
                    if let problem = access.over ?? access.away { throw problem }
                    let upload = try JobUpload(request, queue: access.queue(request))
                    return .later { await upload.answer() }
                }),
            Endpoint(
                method: "GET", path: "/v1/jobs",
                summary: "Jobs of one state, a page at a time. A page ends with its cursor after a bounded search, even with no job on it.",
                parameters: [
                    QueueEndpoints.queue, Self.state(JobState.allCases), Self.host, Self.errorClass, Self.batch, Self.text,
                    Self.url, Parameter("cursor", .text, "The cursor of the page before."), Self.limit,
                ],
                hasEffects: false, shape: .jobs, reply: { request throws(Problem) in try list(request) }),
            Endpoint(
                method: "GET", path: "/v1/jobs/count",
                summary: "How many jobs a list or a change would be about. The count ends after a bounded search, and says so.",
                parameters: [
                    QueueEndpoints.queue, Self.state(JobState.allCases), Self.host, Self.errorClass, Self.batch, Self.text, Self.url,
                ],
                hasEffects: false, shape: .count, reply: { request throws(Problem) in try count(request) }),
            Endpoint(
                method: "GET", path: "/v1/jobs/hosts",
                summary: "The hosts of dead jobs and their classes of failures, the most first, as they were within the last second.",
                parameters: [QueueEndpoints.queue], hasEffects: false, shape: .deadHosts,
                reply: { request throws(Problem) in
                    access.reply(request) { queue in
                        let found = try await access.looks.deadHosts(of: queue)
                        let hosts = found.kinds.map { kind, count -> JSONValue in
                            ["host": .string(kind.host), "class": .string(kind.errorClass), "count": .integer(count)]
                        }
                        return ["schema": 1, "queue": .string(queue.name), "hosts": .array(hosts), "atLeast": .bool(found.isMore)]
                    }
                }),
            Endpoint(
                method: "POST", path: "/v1/jobs/retry", summary: "Tries dead jobs again, or delayed ones now.",
                parameters: [
                    QueueEndpoints.queue, Self.state([.dead, .delayed]), Self.host, Self.errorClass, Self.batch, Self.text, Self.url,
                    Self.most,
                ],
                shape: .sweep,
                reply: { request throws(Problem) in try sweep(request, .dead, "retried") { try await $0.retry($1, limit: $2) } }),
            Endpoint(
                method: "DELETE", path: "/v1/jobs", summary: "Deletes jobs of one state. They count as cancelled; dead ones as failed.",
                parameters: [
                    QueueEndpoints.queue, Self.state([.ready, .parked, .delayed, .dead], required: true), Self.host, Self.errorClass,
                    Self.batch, Self.text, Self.url, Self.most,
                ],
                shape: .sweep,
                reply: { request throws(Problem) in try sweep(request, .ready, "deleted") { try await $0.delete($1, limit: $2) } }),
        ]
    }

    /// The jobs that a request is about.
    private struct Wanted: Sendable {
        var selection: JobSelection
        var batch: String?

        /// In a queue, where a batch has a number.
        func selection(in queue: FetchQueue) async throws -> JobSelection {
            guard let batch else { return selection }
            guard let number = try await queue.number(ofBatch: batch) else {
                throw Problem(404, "no-such-batch", "There is no batch '\(batch)' in the queue '\(queue.name)'.")
            }
            var selection = selection
            selection.filter.batch = number
            return selection
        }
    }

    private func wanted(_ request: EndpointRequest, usual: JobState) throws(Problem) -> Wanted {
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
        return Wanted(selection: selection, batch: items["batch"])
    }

    private func list(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let wanted = try wanted(request, usual: .active)
        guard let cursor = request.items["cursor"].map({ JobCursor($0) }) ?? JobCursor() else {
            throw .badRequest("This is no cursor of an earlier page.")
        }
        let limit = request.items.number("limit") ?? 50
        return access.reply(request) { queue in
            let page = try await queue.jobs(try await wanted.selection(in: queue), from: cursor, limit: limit, parts: Self.parts)
            return [
                "schema": 1, "queue": .string(queue.name), "state": .string(wanted.selection.state.rawValue),
                "jobs": JobLook.fields.list(of: page.looks),
                "cursor": JSONValue(page.next?.text),
            ]
        }
    }

    private func count(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let wanted = try wanted(request, usual: .active)
        return access.reply(request) { queue in
            let selection = try await wanted.selection(in: queue)
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
        let wanted = try wanted(request, usual: usual)
        let limit = request.items.number("limit") ?? .max
        return try access.change(request) { queue in
            let swept = try await change(queue, try await wanted.selection(in: queue), limit)
            return [
                "schema": 1, "queue": .string(queue.name), "state": .string(wanted.selection.state.rawValue), "change": .string(verb),
                "count": .integer(swept.count), "stuck": .integer(swept.stuck),
            ]
        }
    }
}
