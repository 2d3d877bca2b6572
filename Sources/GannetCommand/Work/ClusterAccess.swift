import ClusterState
import Gannet
import HTTPEngine

/// The cluster that a command works with: the Redis that was named, or the private one, which is kept alive meanwhile.
struct ClusterAccess: Sendable {
    let cluster: ClusterState
    /// Tells when Redis is away, and starts a private one again.
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
        let options = cluster
        return try await CommandFailure.wrapping {
            ClusterAccess(cluster: try await ClusterState.connect(options), watch: watch, lease: lease)
        }
    }

    func close() async {
        watch.stop()
        await cluster.close()
        withExtendedLifetime(lease) {}
    }
}

extension CommandFailure {
    /// Takes a command's own failure as it is, and gives the errors of other parts their exit status.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let failure as OutputFailure where failure.cluster == nil: self.init(.cannotWrite, failure.description)
        case let failure as OutputFailure: self.init(failure.cluster ?? .unknownBatch)
        case let invalid as InvalidOptions: self.init(.wrongUsage, invalid.description)
        default:
            guard let error = StateError(error) else {
                self.init(.defect, "Unexpected error: \(error). This is a defect of gannet; please report it.")
                return
            }
            self.init(error)
        }
    }

    private init(_ error: StateError) {
        let status: ExitStatus =
            switch error.reason {
            case .usage: .wrongUsage
            case .unavailable: .unavailable
            case .otherSchema: .otherSchema
            case .defect: .defect
            }
        let hint = error.reason == .otherSchema ? " '--namespace' names another." : ""
        self.init(status, error.description + hint)
    }

    /// Runs `body`, and makes its error a command's.
    static func wrapping<Result: ~Copyable, Failure: Error>(
        _ body: () async throws(Failure) -> Result
    ) async throws(CommandFailure) -> Result {
        do {
            return try await body()
        } catch {
            throw CommandFailure(error)
        }
    }
}
