package import ClusterState
package import Gannet
internal import GannetBasics
package import HTTPService

/// Answers clients over HTTP: URLs that they want now, and questions about the queues.
///
/// ```
///  request ─▶ EndpointTable: whose is it? ─▶ AccessRules: who may ask? ─▶ QueryItems: what is asked? ─▶ the endpoint's reply
///                    └───────────────────────────┴── a Problem ──┘
/// ```
package final class GatewayServer: Sendable {
    private let table: EndpointTable
    private let access: AccessRules
    private let use: Mutex<[TokenUse]>
    private let document: String

    package init(_ cluster: ClusterState, _ fetch: ClusterFetch, _ settings: GatewaySettings) {
        access = settings.access
        use = Mutex(settings.access.tokens.map { TokenUse($0) })
        let queues = QueueAccess(cluster: cluster, usual: settings.queue)
        let endpoints =
            FetchEndpoints(fetch: fetch, settings: settings).endpoints + JobEndpoints(access: queues).endpoints
            + QueueEndpoints(access: queues).endpoints
        let document = OpenAPIDocument.text(of: endpoints)
        self.document = document
        table = EndpointTable(
            endpoints: endpoints + [
                Endpoint(
                    method: "GET", path: "/v1/openapi.json", summary: "This description.", hasEffects: false,
                    reply: { _ in .now(HTTPServiceAnswer(document, type: "application/json")) }),
                Endpoint(
                    method: "GET", path: "/healthz", summary: "Whether the server lives.", hasEffects: false, isOpen: true,
                    answers: [200: ["text/plain"]], reply: { _ in .later(within: .seconds(5)) { HTTPServiceAnswer("ok\n") } }),
            ])
    }

    /// To be given to an `HTTPService`.
    package func reply(to request: HTTPServiceRequest) -> HTTPServiceReply {
        do throws(Problem) {
            let (endpoint, path) = try table.find(request)
            let holder = try access.check(request, endpoint)
            if let holder { try begin(holder) }
            do throws(Problem) {
                let items = try QueryItems(request.query, path: path, endpoint.parameters)
                return ending(holder, try endpoint.reply(EndpointRequest(request: request, items: items)))
            } catch {
                if let holder { end(holder) }
                throw error
            }
        } catch {
            return .now(error.answer)
        }
    }

    private func begin(_ holder: Int) throws(Problem) {
        let token = access.tokens[holder]
        switch use.withLock({ $0[holder].begin(token, at: .now) }) {
        case .goes: return
        case .tooManyAtOnce:
            throw Problem(429, "too-many-at-once", "This token may have \(token.atOnce) requests under way at a time.")
        case .tooMany(let next):
            var problem = Problem(429, "too-many", "This token may send \(token.perSecond ?? 0) requests a second.")
            problem.headers = [("Retry-After", "\(max(1, next.components.seconds))")]
            throw problem
        }
    }

    private func end(_ holder: Int) { use.withLock { $0[holder].end() } }

    /// The request counts as under way until its answer is there.
    private func ending(_ holder: Int?, _ reply: HTTPServiceReply) -> HTTPServiceReply {
        guard let holder else { return reply }
        switch reply {
        case .now:
            end(holder)
            return reply
        case .later(let time, let otherwise, let work):
            return .later(within: time, otherwise: otherwise) {
                defer { self.end(holder) }
                return await work()
            }
        }
    }
}
