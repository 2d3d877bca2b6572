internal import GannetBase
internal import GannetFetch
internal import GannetHTTP
internal import GannetQueue
internal import GannetRedis
internal import GannetRedisClient
package import Results

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
                return (content, answer.body, duration, nil)
            case .failure(let error):
                if Task.isCancelled { throw StateError.redis(RedisError(.cancelled)) }
                if error.retry.isLocal { throw StorageFailure(.other(error.description, errno: error.systemError)) }
                return (OutcomeContent(error, url: url), nil, duration, remembered)
            }
        }
    }
}
