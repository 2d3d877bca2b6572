internal import Crawl
internal import GannetBase
internal import GannetFetch
internal import GannetHTTP

/// `/v1/fetch` and `/v1/cache`: the body of a URL, fetched once for all who ask.
extension Gateway {
    /// The time a client is willing to wait.
    private static let deadline = Parameter("gannet-deadline", .seconds, in: .header, "For how many seconds the client waits, such as 2.5.")

    private static let url = Parameter(
        "url", .url, required: true, "An absolute http or https URL, with its & and % written as %26 and %25.")

    /// Of endpoints that fetch a URL for a client.
    var requestParameters: [Parameter] {
        [
            Self.url, Self.deadline,
            Parameter("cache-control", in: .header, "no-cache, only-if-cached, max-age=… and others of RFC 9111."),
        ] + forwardedParameters
    }

    /// Of endpoints whose bodies clients may have already.
    static let conditions = [
        Parameter(
            "if-none-match", in: .header, "The tags of bodies that the client has. It gets 304 where one of them is the present one."),
        Parameter("if-modified-since", in: .header, "Since when the client has a body. It gets 304 where the body is no newer."),
    ]

    private static let ranges = [
        Parameter("range", in: .header, "A part of the body, such as bytes=0-99."),
        Parameter(
            "if-range", in: .header, "The tag or the date of the body of which the client wants a part. It gets all of another body."),
    ]

    private var forwardedParameters: [Parameter] {
        settings.forwardedHeaders.map { name in
            Parameter(name, in: .header, "Goes on to the origin. Each of its values has a kept answer of its own.")
        }
    }

    var fetchEndpoints: [Endpoint] {
        [
            Endpoint(
                method: "GET", path: "/v1/fetch",
                summary: "The body of a URL, from the caches or from its origin. Clients that ask at the same time share one request.",
                parameters: requestParameters + Self.conditions + Self.ranges,
                answers: [200: ["*/*"], 206: ["*/*"], 304: []],
                reply: fetched),
            Endpoint(
                method: "DELETE", path: "/v1/cache",
                summary: "Forgets the kept answer of a URL and of the headers that go on to its origin. The next client has it fetched.",
                parameters: [Self.url] + forwardedParameters, answers: [204: []],
                reply: { request throws(Problem) in
                    let question = try question(request)
                    return .later {
                        do { try await fetch.forget(question) } catch { return Problem(error).answer }
                        return HTTPServiceAnswer(status: 204)
                    }
                }),
        ]
    }

    private func fetched(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let question = try question(request)
        let deadline = try deadline(request.request)
        let conditions = ClientConditions(request.request)
        if let answer = fetch.answerAtOnce(question) { return .now(body(answer, conditions)) }
        let mayStream = !conditions.exist && !request.isHead
        return .later {
            let running = RunningFetch(question, within: deadline, mayStream: mayStream, by: fetch)
            switch await running.arrival {
            case .whole(.success(let answer))?: return body(answer, conditions)
            case .whole(.failure(let error))?: return failure(error, of: question)
            case .growing(let growing, let head)?: return stream(growing, head, of: running)
            case nil: return Problem(503, "cancelled", "The client has left.").answer
            }
        }
    }

    /// The whole body of a URL, from the caches or its origin.
    func source(of question: AnswerRequest, within deadline: Duration?) async -> Result<ServedAnswer, FetchError> {
        if let answer = fetch.answerAtOnce(question) { return .success(answer) }
        return await fetch.answer(question, within: deadline)
    }

    func question(_ request: EndpointRequest) throws(Problem) -> AnswerRequest {
        var question = AnswerRequest(request.items.required("url"))
        let control = request.request.headers("cache-control")
        if !control.isEmpty { question.control = CacheControl(lines: control) }
        for name in settings.forwardedHeaders {
            let values = request.request.headers(name)
            guard !values.isEmpty else { continue }
            guard let field = HeaderField(name: name, value: values.joined(separator: ", ")) else {
                throw .badRequest("The value of the header '\(name)' cannot be sent on: it is too long, or has control characters in it.")
            }
            question.headers.append(field)
        }
        return question
    }

    func deadline(_ request: HTTPServiceRequest) throws(Problem) -> Duration? {
        let values = request.headers(Self.deadline.name)
        guard !values.isEmpty else { return nil }
        // Two times are none that the parameter takes.
        let value = values.joined(separator: ", ")
        try Self.deadline.check(value)
        return Parameter.Form.readSeconds(value)
    }

    /// The client stays in the fetch as long as it reads.
    private func stream(_ growing: GrowingBody, _ head: GrowingBody.Head, of running: RunningFetch) -> HTTPServiceAnswer {
        let headers = AnswerHeaders(head, alsoPassed: settings.passedHeaders)
        var answer = HTTPServiceAnswer(
            status: 200, headers: headers.all,
            body: .stream(length: head.length) { stream in
                defer { withExtendedLifetime(running) {} }
                var offset = 0
                while let piece = try await growing.next(after: offset) {
                    offset += piece.count
                    // A client that has all of the body leaves the fetch, which would end before the answer is kept.
                    if offset == head.length { await running.conclusion() }
                    try await stream.write(piece)
                }
                await running.conclusion()
            })
        answer.begun = { [counts] in counts.fetched(from: .network) }
        return answer
    }

    func failure(_ error: FetchError, of question: AnswerRequest) -> HTTPServiceAnswer {
        // RFC 9111, section 5.2.1.7, wants this status. The origin was not asked.
        if question.control?.onlyIfCached == true, error.kind == .status(504) {
            return Problem(504, "not-kept", "No kept answer may be used, and the request forbids a fetch (only-if-cached).").answer
        }
        var answer = Problem(error).answer
        answer.begun = { [counts] in counts.failed(error) }
        return answer
    }

    private func body(_ answer: ServedAnswer, _ conditions: ClientConditions) -> HTTPServiceAnswer {
        var counted = part(of: answer, conditions)
        counted.begun = { [counts] in counts.fetched(from: answer.source) }
        return counted
    }

    private func part(of answer: ServedAnswer, _ conditions: ClientConditions) -> HTTPServiceAnswer {
        let now = Moment.now
        let headers = AnswerHeaders(answer, alsoPassed: settings.passedHeaders, at: now)
        guard conditions.exist else { return HTTPServiceAnswer(status: 200, headers: headers.all, body: .bytes(answer.body)) }
        if let unchanged = headers.unchanged(conditions, at: now) { return unchanged }
        switch conditions.range(of: answer.body.count, headers.tag, lastModified: headers.lastModified) {
        case .whole: return HTTPServiceAnswer(status: 200, headers: headers.all, body: .bytes(answer.body))
        case .part(let range):
            let part = (name: "Content-Range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(answer.body.count)")
            return HTTPServiceAnswer(status: 206, headers: headers.all + [part], body: .bytes(Array(answer.body[range])))
        case .unsatisfiable:
            var problem = Problem(416, "range", "The body has \(answer.body.count) bytes, and none of them is in the range.")
            problem.headers = [("Content-Range", "bytes */\(answer.body.count)")]
            return problem.answer
        }
    }
}
