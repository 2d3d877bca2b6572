internal import Crawl
internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The queues that requests name, and the common steps of answers about them.
struct QueueAccess: Sendable {
    let cluster: ClusterState
    let usual: String
    let looks: SharedLooks
    /// Answers without an end come to one then.
    let end = GatewayEnd()
    /// The server belongs to a run that has ended: nobody works on its queue any more.
    let hasRunEnded = SharedFlag()

    private static let bound = Duration.seconds(30)
    static let redisIsAway = "Redis is away, and with it the queues. Try again in a moment."

    init(_ cluster: ClusterState, usual: String) {
        self.cluster = cluster
        self.usual = usual
        looks = SharedLooks(cluster)
    }

    func queue(_ request: EndpointRequest) -> FetchQueue { cluster.queue(request.items["queue"] ?? usual) }

    /// Answers with JSON.
    func reply(
        _ request: EndpointRequest, _ body: @escaping @Sendable (FetchQueue) async throws -> JSONValue
    ) -> HTTPServiceReply {
        if let away { return .now(away.answer) }
        let queue = queue(request)
        let late = Problem(504, "redis-slow", "Redis has not answered in time.").answer
        return .later(within: Self.bound, otherwise: late) {
            do {
                return Self.answer(try await body(queue))
            } catch {
                return Problem((error as? StateError).map(cluster.naming) ?? error).answer
            }
        }
    }

    /// Answers with JSON after a change of the queue.
    func change(
        _ request: EndpointRequest, _ body: @escaping @Sendable (FetchQueue) async throws -> JSONValue
    ) throws(Problem) -> HTTPServiceReply {
        if let over { throw over }
        return reply(request, body)
    }

    /// The problem of a change that would never have an effect.
    var over: Problem? {
        hasRunEnded.isSet
            ? Problem(
                409, "run-ended",
                "The run of this window has ended, and nobody works on its queue. Run the same command again to fetch what failed.")
            : nil
    }

    /// The problem while Redis is known to be away, so that nobody waits for it.
    var away: Problem? {
        cluster.isAway ? Problem(503, "redis", Self.redisIsAway) : nil
    }

    static func answer(_ json: JSONValue, status: Int = 200) -> HTTPServiceAnswer {
        var answer = HTTPServiceAnswer(status: status, json.text + "\n", type: "application/json")
        answer.headers.append((name: "Cache-Control", value: "no-store"))
        return answer
    }
}

extension RequestedURL {
    /// The URL that a client names.
    init(asked text: String) throws(Problem) {
        do throws(StateError) { try self.init(text) } catch { throw Problem(error) }
    }
}

extension Problem {
    /// A call about the state of the cluster failed.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as FetchError: self.init(error)
        case StateError.invalid(let sentence): self.init(400, "bad-request", sentence)
        case StateError.batchCancelled, StateError.batchClosed, StateError.otherHeaders: self.init(409, "batch", "\(error)")
        case let error as StateError: self.init(503, "redis", error.description)
        default: self.init(500, "defect", "The server could not answer this.")
        }
    }
}
