import GannetQueue
import GannetRedisClient
import Glibc

/// A worker that claims once and then neither renews nor settles nor ends: for tests that kill it.
///
/// Arguments: the socket of Redis, the namespace, the queue, how many jobs, the lease in ms, how many requests a host may have in
/// flight. Prints `holds <number>` when it has its jobs.
enum StateWorker: HelperJob {
    static func run(_ words: [String]) async throws {
        guard words.count == 7, let limit = Int(words[4]), let lease = Int(words[5]), let hostLimit = Int(words[6]) else {
            fatalError("A test starts this program, with six arguments.")
        }
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: words[1])))
        let cluster = ClusterState(redis, namespace: words[2])
        var request = ExchangeRequest(.random(), number: 1, lease: .milliseconds(lease))
        request.wanted = limit
        request.host = HostRule(limit: hostLimit, first: 1000)
        let answer = try await cluster.queue(words[3]).exchange(request, in: cluster.home)
        print("holds \(answer?.jobs.count ?? 0)")
        fflush(nil)
        try await Task.sleep(for: .seconds(3600))
    }
}
