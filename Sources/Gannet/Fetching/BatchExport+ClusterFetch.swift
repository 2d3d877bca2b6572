package import BodyStores
internal import ClusterState
internal import FetchCache
internal import GannetBasics
internal import GannetRedis
internal import HTTPEngine
internal import RedisClient

extension BatchExport {
    /// Fetches lost bodies, as one caller of the whole cluster.
    /// - Parameter hostLimit: This caller's requests at a time at one host, without those of workers.
    package func refetch(through fetch: ClusterFetch, concurrency: Int, hostLimit: Int) async throws {
        let hosts = HostGates(limit: hostLimit)
        try await refetch(concurrency: concurrency) { url in
            let timed = await hosts.within((try? CanonicalURL(url).host) ?? "") {
                let clock = ContinuousClock.now
                return (await fetch.answer(url), ContinuousClock.now - clock)
            }
            guard let ((answer, remembered), duration) = timed else { throw StateError.redis(RedisError(.cancelled)) }
            switch answer {
            case .success(let answer):
                var content = OutcomeContent(url: url)
                content.status = answer.status
                content.fields[.contentType] = answer.headers["Content-Type"]
                return Refetch(content, body: answer.body, duration: duration)
            case .failure(let error):
                if Task.isCancelled { throw StateError.redis(RedisError(.cancelled)) }
                if error.retry == .local { throw StorageFailure(.other(error.description, errno: error.systemError)) }
                return Refetch(OutcomeContent(error, url: url), body: nil, duration: duration, remembered: remembered)
            }
        }
    }
}

/// Limits the requests at each host. Only hosts with requests are remembered.
private final class HostGates: Sendable {
    private struct Host {
        let gate: DownloadGate
        var users = 0
    }

    private let limit: Int
    private let hosts = Mutex<[String: Host]>([:])

    /// - Parameter limit: At least one.
    init(limit: Int) { self.limit = limit }

    /// Runs `body` when there is a place at the host; returns `nil` if the task is cancelled before.
    func within<Value: Sendable>(_ host: String, _ body: () async -> Value) async -> Value? {
        let gate = hosts.withLock { hosts in
            hosts[host, default: Host(gate: DownloadGate(places: limit))].users += 1
            return hosts[host]?.gate
        }
        defer {
            hosts.withLock { hosts in
                hosts[host]?.users -= 1
                if hosts[host]?.users == 0 { hosts[host] = nil }
            }
        }
        guard let gate, await gate.enter() else { return nil }
        defer { gate.leave() }
        return await body()
    }
}
