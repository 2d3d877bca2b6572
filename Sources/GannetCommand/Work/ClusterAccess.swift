import Gannet

/// The cluster a command works with: the Redis that was named, or the private one, kept alive for as long as this is.
struct ClusterAccess: Sendable {
    let cluster: Cluster
    private let lease: PrivateRedis.Lease?

    static func open(_ options: ConnectionOptions, console: Console) async throws(CommandFailure) -> ClusterAccess {
        var lease: PrivateRedis.Lease?
        var address = options.redis
        if address == nil {
            let own = try await PrivateRedis(environment: .current).ensureRunning(console: console)
            lease = own
            address = own.address
        }
        var cluster = ClusterOptions(redis: address ?? "")
        cluster.passwordFile = options.passwordFile
        cluster.authorityFile = options.caFile
        cluster.namespace = options.namespace
        do throws(ClusterError) {
            return ClusterAccess(cluster: try await Cluster.connect(cluster), lease: lease)
        } catch {
            throw CommandFailure(error)
        }
    }

    func close() async {
        await cluster.close()
        withExtendedLifetime(lease) {}
    }
}

extension CommandFailure {
    init(_ error: ClusterError) {
        let status: ExitStatus =
            switch error.reason {
            case .usage: .wrongUsage
            case .unavailable: .unavailable
            case .defect: .defect
            }
        self.init(status, error.description)
    }

    init(_ failure: WorkerFailure) {
        switch failure {
        case .cluster(let error): self.init(error)
        case .output(let sentence): self.init(.cannotWrite, sentence)
        case .settings(let sentence): self.init(.wrongUsage, sentence)
        }
    }

    /// Runs `body`, whose errors are the cluster's.
    static func wrapping<Result: ~Copyable>(
        _ body: () async throws(ClusterError) -> Result
    ) async throws(CommandFailure) -> Result {
        do throws(ClusterError) {
            return try await body()
        } catch {
            throw CommandFailure(error)
        }
    }
}
