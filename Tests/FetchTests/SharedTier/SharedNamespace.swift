import Foundation
import GannetFetch
import GannetRedis
import GannetTestKit

/// A namespace of one test's own, and what shares fetches in it.
struct SharedNamespace {
    let namespace = "shared-\(UInt64.random(in: 0 ... .max))"

    func cache(_ redis: RedisServer, lease: Duration = .seconds(30), bodyLimit: Int = 100_000_000) async throws -> RedisCache {
        try await RedisCache.connect(
            RedisCacheOptions(redis: URL(filePath: redis.socketPath)) {
                $0.namespace = namespace
                $0.lease = lease
                $0.bodyLimit = bodyLimit
            })
    }

    func fetcher(_ cache: RedisCache, _ change: (inout FetcherOptions) -> Void = { _ in }) throws -> Fetcher {
        var options = FetcherOptions.local
        change(&options)
        options.shared = cache.shared
        return try Fetcher(options)
    }

    /// A caller has its answer up to 250 ms before the others have it. Until then another caller joins its fetch.
    func settled(_ redis: RedisServer) async throws {
        try await eventually("all answers are in the shared tier") {
            try await redis.command("EXISTS", "{\(namespace)}locks") == .integer(0)
        }
    }
}
