internal import Crawl
internal import FoundationEssentials
internal import GannetBase
internal import GannetFetch
internal import GannetHTTP
internal import GannetQueue
internal import Results

/// The parts of a gateway that its endpoints share, and the common steps of answers about queues. Each group of endpoints is an extension.
struct Gateway: Sendable {
    let cluster: ClusterState
    let fetch: ClusterFetch
    let settings: GatewaySettings
    /// Of the server that asks.
    let service: HTTPServiceCounts
    let pool: ThumbnailPool
    let thumbnails: SharedThumbnails
    let looks: SharedLooks
    /// Nil where there is no file for favourites.
    let favourites: Favourites?
    let pictures = PictureIndex()
    let counts = GatewayCounts()
    /// The server belongs to a run that has ended: nobody works on its queue any more.
    let hasRunEnded = SharedFlag()

    /// For how long a client waits for Redis.
    static let bound = Duration.seconds(30)
    static let late = Problem(504, "redis-slow", "Redis has not answered in time.").answer
    static let redisIsAway = "Redis is away, and with it the queues. Try again in a moment."

    init(
        _ cluster: ClusterState, _ fetch: ClusterFetch, _ settings: GatewaySettings, _ service: HTTPServiceCounts, _ pool: ThumbnailPool
    ) {
        self.cluster = cluster.impatient
        self.fetch = fetch
        self.settings = settings
        self.service = service
        self.pool = pool
        thumbnails = SharedThumbnails(pool, cluster, limit: settings.bodyLimit, settings.room)
        looks = SharedLooks(cluster.impatient)
        favourites = settings.favourites.flatMap { try? Favourites(URL(filePath: $0)) }
    }

    var endpoints: [Endpoint] {
        let health = Endpoint(
            method: "GET", path: "/healthz", summary: "Whether the server lives.", hasEffects: false, isOpen: true,
            answers: [200: ["text/plain"]], reply: { _ in .later(within: .seconds(5)) { HTTPServiceAnswer("ok\n") } })
        let groups: [[Endpoint]] = [
            fetchEndpoints, [pictureEndpoint], jobEndpoints, queueEndpoints, sessionEndpoints, galleryEndpoints, [health],
            Self.pageEndpoints, [metricsEndpoint],
        ]
        let all = Array(groups.joined())
        return all + [OpenAPIDocument.endpoint(all)]
    }

    // MARK: Answers about queues

    func queue(_ request: EndpointRequest) -> FetchQueue { cluster.queue(request.items["queue"] ?? settings.queue) }

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

    /// Answers with JSON.
    func reply(
        _ request: EndpointRequest, _ body: @escaping @Sendable (FetchQueue) async throws -> JSONValue
    ) -> HTTPServiceReply {
        if let away { return .now(away.answer) }
        let queue = queue(request)
        return .later(within: Self.bound, otherwise: Self.late) {
            do {
                return HTTPServiceAnswer(json: try await body(queue))
            } catch {
                return Problem((error as? StateError).map(cluster.naming) ?? error).answer
            }
        }
    }

    /// Answers with JSON to a request that needs no further checks.
    func asking(_ body: @escaping @Sendable (EndpointRequest, FetchQueue) async throws -> JSONValue) -> Endpoint.Reply {
        { request in reply(request) { try await body(request, $0) } }
    }

    /// Answers with JSON after a change of the queue.
    func changing(_ body: @escaping @Sendable (EndpointRequest, FetchQueue) async throws -> JSONValue) -> Endpoint.Reply {
        { request throws(Problem) in
            if let over { throw over }
            return reply(request) { try await body(request, $0) }
        }
    }
}

extension HTTPServiceAnswer {
    init(json: JSONValue, status: Int = 200) {
        self.init(status: status, json.text + "\n", type: "application/json")
        headers.append((name: "Cache-Control", value: "no-store"))
    }
}

extension Parameter {
    static let queue = Parameter("queue", .name, "The queue; without this parameter it is the server's.")
}

extension RequestedURL {
    /// The URL that a client names.
    init(asked text: String) throws(Problem) {
        do throws(StateError) { try self.init(text) } catch { throw Problem(error) }
    }
}

extension AnswerShape {
    /// Of every answer about a queue.
    static func ofQueue(_ members: AnswerShape) -> AnswerShape { ["schema": .integer, "queue": .text] + members }
}
