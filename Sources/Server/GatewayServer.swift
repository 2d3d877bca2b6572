package import Crawl
internal import GannetBase
internal import GannetHTTP
package import GannetQueue
package import Results

/// Answers clients over HTTP: URLs that they want now, and questions about the queues.
///
/// ```
///  request ─▶ EndpointTable: whose is it? ─▶ AccessRules: who may ask? ─▶ QueryItems: what is asked? ─▶ the endpoint's reply
///                    └───────────────────────────┴── a Problem ──┘
/// ```
package final class GatewayServer: Sendable {
    private let gateway: Gateway
    private let table: EndpointTable
    private let use: Mutex<[TokenUse]>

    /// - Parameters:
    ///   - service: The counts of the `HTTPService` that asks.
    ///   - pool: Makes thumbnails.
    package init(
        _ cluster: ClusterState, _ fetch: ClusterFetch, _ settings: GatewaySettings, _ service: HTTPServiceCounts, _ pool: ThumbnailPool
    ) {
        gateway = Gateway(cluster, fetch, settings, service, pool)
        let endpoints = gateway.endpoints
        gateway.counts.begin(endpoints)
        table = EndpointTable(endpoints: endpoints)
        use = Mutex(settings.access.tokens.map { TokenUse($0) })
    }

    private var access: AccessRules { gateway.settings.access }

    /// The run that the server belongs to has ended. The server goes on showing it.
    package func runHasEnded() { gateway.hasRunEnded.set() }

    /// To be given to an `HTTPService`.
    package func reply(to request: HTTPServiceRequest) -> HTTPServiceReply {
        var found: Endpoint?
        do throws(Problem) {
            let (endpoint, path) = try table.find(request)
            found = endpoint
            let holder = try access.check(request, endpoint)
            if let holder {
                try begin(holder)
                request.atEnd { self.end(holder) }
            }
            let items = try QueryItems(endpoint.hasOwnQuery ? "" : request.query, path: path, endpoint.parameters)
            return counted(try endpoint.reply(EndpointRequest(request: request, items: items, holder: holder)), endpoint)
        } catch {
            if let rule = error.rule { gateway.counts.refused(by: rule) }
            return .now(counted(error.answer, found))
        }
    }

    private func begin(_ holder: Int) throws(Problem) {
        let token = access.tokens[holder]
        switch use.withLock({ $0[holder].begin(token, at: .now) }) {
        case .goes: return
        case .tooManyAtOnce:
            throw Problem(429, "too-many-at-once", "This token may have \(token.atOnce) requests under way at a time.", rule: .limit)
        case .tooMany(let next):
            var problem = Problem(429, "too-many", "This token may send \(token.perSecond ?? 0) requests a second.", rule: .limit)
            problem.headers = [Problem.retryAfter(next)]
            throw problem
        }
    }

    /// A request is under way until its last byte has been sent, so that streams and slow readers count too.
    private func end(_ holder: Int) { use.withLock { $0[holder].end() } }

    private func counted(_ reply: HTTPServiceReply, _ endpoint: Endpoint) -> HTTPServiceReply {
        switch reply {
        case .now(let answer): .now(counted(answer, endpoint))
        case .later(let time, let otherwise, let work):
            .later(within: time, otherwise: counted(otherwise, endpoint)) { self.counted(await work(), endpoint) }
        }
    }

    /// Bodies up to this size do not count: a connection has as much for itself.
    private static let small = 32 << 10

    private static let noRoom = Problem(
        503, "limit",
        "This server holds as many bytes of bodies as it may ('--memory-under-way'). Ask again when other clients have read theirs.")

    /// The answer, which is counted when it begins to be sent, and whose body counts until it was sent.
    private func counted(_ answer: HTTPServiceAnswer, _ endpoint: Endpoint?) -> HTTPServiceAnswer {
        var counted = answer
        if case .bytes(let body) = answer.body, body.count > Self.small {
            guard let claim = gateway.settings.room.claim(body) else { return self.counted(Self.noRoom.answer, endpoint) }
            counted.held = claim
        }
        counted.begun = { [counts = gateway.counts] in
            answer.begun?()
            counts.answered(endpoint, status: answer.status)
        }
        return counted
    }
}
