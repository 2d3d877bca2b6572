import Crawl
import GannetHTTP
import GannetQueue
import GannetTestKit
import Results
import Server

/// A gateway with all of its endpoints, over a Redis of its own.
///
/// Requests get its first word: a problem, an answer at once, or work. The work is not done.
struct RunningGateway: Sendable {
    private let redis: RedisServer
    private let server: GatewayServer

    private static let running = Monitor<RunningGateway?>(nil)

    static func start() async throws {
        let redis = try await RedisServer.start()
        let cluster = try await ClusterState.connect(ClusterOptions(redis: "unix://\(redis.socketPath)"))
        var settings = GatewaySettings()
        settings.forwardedHeaders = ["accept-language"]
        let fetch = try await ClusterFetch(cluster, FetchSettings(), ClusterFetch.Options())
        let pool = ThumbnailPool(ThumbnailProgram(named: nil, beside: redis.socketPath))
        let gateway = RunningGateway(redis: redis, server: GatewayServer(cluster, fetch, settings, HTTPServiceCounts(), pool))
        running.update { $0 = gateway }
    }

    /// The answer to the request. A request whose work takes too long is answered that it did.
    static func answer(to request: HTTPServiceRequest) throws(BrokenInvariant) -> HTTPServiceAnswer {
        guard let gateway = running.update({ $0 }) else { throw BrokenInvariant(description: "no gateway runs") }
        switch gateway.server.reply(to: request) {
        case .now(let answer): return answer
        case .later(_, let otherwise, _): return otherwise
        }
    }
}
