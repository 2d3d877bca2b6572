internal import ClusterState
internal import RedisClient

/// For those who watch over a worker: asked often, and answered at once or not at all.
extension Cluster {
    /// Takes a queue's claim path through Redis, without taking a job, and a write that changes nothing: a server that answers may still take none. What it mends on its way is what any claim mends.
    /// - Parameter options: Those of the worker that is watched over.
    package func takeClaimPath(of name: String, as options: WorkerOptions, within time: Duration) async throws(ClusterError) {
        var request = ClaimRequest(0, lease: options.lease, nonce: Nonce(.random(in: .min ... .max)), worker: Self.watcher)
        request.host = options.hostRule
        let asked = request
        let (queue, state) = (impatientQueue(name), ClusterState(control, namespace: namespace))
        try await bounded(by: time) { () throws(ClusterError) in
            try await ClusterError.wrapping { () throws(StateError) in
                try await state.tryWriting()
                _ = try await queue.claim(asked)
            }
        }
    }

    /// What is to be seen of a queue.
    package func report(on name: String, within time: Duration) async throws(ClusterError) -> QueueReport {
        let queue = impatientQueue(name)
        return try await bounded(by: time) { () throws(ClusterError) in
            QueueReport(try await ClusterError.wrapping { () throws(StateError) in try await queue.overview() })
        }
    }

    /// The server's memory, its answers and what it says of its disk.
    package func health(within time: Duration) async throws(ClusterError) -> ServerHealth {
        let control = control
        return try await bounded(by: time) { () throws(ClusterError) in
            try await ClusterError.wrappingRedis { () throws(RedisError) in try await ServerHealth(of: control) }
        }
    }

    /// What the bodies in Redis take.
    package func bodyCache(within time: Duration) async throws(ClusterError) -> BodyCacheFigures {
        let store = BlobStore(control, namespace: namespace)
        return try await bounded(by: time) { () throws(ClusterError) in
            let usage = try await ClusterError.wrapping { () throws(StateError) in try await store.usage() }
            return BodyCacheFigures(memory: usage.memory, evicted: usage.evicted)
        }
    }

    /// No job is ever claimed in its name.
    private static let watcher = "watcher"

    private func impatientQueue(_ name: String) -> FetchQueue { queue(name, Persistence(patience: .zero)) }

    private func bounded<Value: Sendable>(
        by time: Duration, _ body: @escaping @Sendable () async throws(ClusterError) -> Value
    ) async throws(ClusterError) -> Value {
        let outcome = await withTaskGroup(of: Result<Value, ClusterError>?.self) { group in
            group.addTask {
                do throws(ClusterError) {
                    return .success(try await body())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let outcome else {
            throw ClusterError(RedisError(.commandTimeout, server: "\(control.configuration.address)"))
        }
        return try outcome.get()
    }
}
