import Foundation
import GannetFetch
import GannetRedis

/// A process that fetches through a cache in Redis, for tests that run several and kill some.
///
/// Arguments: the socket of Redis, the namespace, the lease in ms, how many calls at once, the URL, and `stubborn` for one that fetches in
/// its own way: see `StubbornDownloader`. Prints `connected`, and at the end the first body and
/// `<good> <failed> <downloads> <shared> <fenced> <lost>`.
enum FetchProcess: HelperJob {
    static func run(_ words: [String]) async throws {
        guard words.count >= 6, let lease = Int(words[3]), let calls = Int(words[4]) else {
            fatalError("A test starts this program, with five arguments or six.")
        }
        let redis = try await RedisCache.connect(
            RedisCacheOptions(redis: URL(filePath: words[1])) {
                $0.namespace = words[2]
                $0.lease = .milliseconds(lease)
            })
        let options = FetcherOptions {
            $0.shared = redis.shared
            $0.allowedNetworks = ["all"]
        }
        let fetcher = words.count > 6 ? try Fetcher(options, downloader: StubbornDownloader()) : try Fetcher(options)
        print("connected")
        fflush(nil)
        guard let url = URL(string: words[5]) else { fatalError("The fifth argument is a URL.") }
        let request = FetchRequest(url)
        var good: [Data] = []
        await withTaskGroup(of: Data?.self) { group in
            for _ in 0..<calls { group.addTask { try? await fetcher.data(for: request) } }
            for await body in group { if let body { good.append(body) } }
        }
        let counts = fetcher.statistics
        print(good.first.map { String(decoding: $0.prefix(100), as: UTF8.self) } ?? "nothing")
        print(good.count, calls - good.count, counts.downloads, counts.sharedHits, counts.fenced, counts.locksLost)
        await fetcher.close()
        await redis.close()
    }
}
