import Gannet

/// The cluster a command works with: the Redis that was named, or the private one, kept alive for as long as this is.
struct ClusterAccess: Sendable {
    let cluster: Cluster
    /// Says when Redis is away, and does what can be done about it.
    let watch: RedisWatch
    private let lease: PrivateRedis.Lease?

    /// Opens it unless a signal comes first: a server may take its time to start, to load its data or to answer.
    static func open(
        _ options: ConnectionOptions, console: Console, patience: Duration = .seconds(60), unless interruption: Interruption
    ) async throws(CommandFailure) -> ClusterAccess {
        let opened = await interruption.cancelling { try await open(options, console: console, patience: patience) }
        guard let access = try opened.get(unlessInterrupted: interruption) else { throw CommandFailure(interruption.status, nil) }
        return access
    }

    /// - Parameter patience: How long calls other than a worker's wait for a Redis that has gone away.
    static func open(
        _ options: ConnectionOptions, console: Console, patience: Duration = .seconds(60)
    ) async throws(CommandFailure) -> ClusterAccess {
        var lease: PrivateRedis.Lease?
        var privateRedis: PrivateRedis?
        var address = options.redis
        if address == nil {
            guard options.allowsPrivateRedis else {
                throw CommandFailure(
                    .wrongUsage,
                    "No Redis is named, and none is started here: set '--redis redis://host:port', or the environment variable GANNET_REDIS."
                )
            }
            let own = PrivateRedis(environment: .current)
            let held = try await own.ensureRunning(console: console)
            privateRedis = own
            lease = held
            address = held.address
        }
        var cluster = ClusterOptions(redis: address ?? "")
        cluster.passwordFile = options.passwordFile
        cluster.authorityFile = options.caFile
        cluster.namespace = options.namespace
        cluster.patience = patience
        let watch = RedisWatch(console, own: privateRedis)
        cluster.outage = watch.note
        do throws(ClusterError) {
            return ClusterAccess(cluster: try await Cluster.connect(cluster), watch: watch, lease: lease)
        } catch {
            throw CommandFailure(error)
        }
    }

    func close() async {
        watch.stop()
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
            case .otherSchema: .otherSchema
            case .defect: .defect
            }
        self.init(status, error.description)
    }

    init(_ failure: OutputFailure) {
        guard let error = failure.cluster else {
            self.init(.cannotWrite, failure.description)
            return
        }
        self.init(error)
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
