import Crawl
import GannetQueue
import Results

/// The cluster that a command works with: the Redis that was named, or the private one, which is kept alive meanwhile.
struct ClusterAccess: Sendable {
    let cluster: ClusterState
    /// Tells when Redis is away, and starts a private one again.
    let watch: RedisWatch
    private let own: PrivateRedis?

    /// - Parameter patience: How long calls other than a worker's wait for a Redis that has gone away.
    /// - Parameter isImpatient: The command also ends soon where a server of a cluster is away.
    /// - Parameter looking: The command changes nothing, and so does not begin to use a new namespace either.
    /// - Parameter storesBodies: Bodies go through this connection. A large one takes its time.
    /// - Parameter looksForDamage: The command also opens a namespace that has lost its schema.
    static func open(
        _ options: ConnectionOptions, console: Console, patience: Duration, isImpatient: Bool, looking: Bool = false,
        storesBodies: Bool = false, looksForDamage: Bool = false
    ) async throws -> ClusterAccess {
        var own: PrivateRedis?
        if options.redis == nil {
            guard options.allowsPrivateRedis else {
                throw CommandFailure(
                    .wrongUsage,
                    "No Redis is named, and none is started here: set '--redis redis://host:port', or the environment variable GANNET_REDIS."
                )
            }
            own = try await PrivateRedis.use(.current, console: console)
        }
        let watch = RedisWatch(console, own: own)
        var cluster = ClusterOptions(redis: options.redis ?? own?.address ?? "")
        cluster.passwordFile = options.passwordFile
        cluster.authorityFile = options.caFile
        cluster.namespace = options.namespace
        cluster.answerTime = Times.current.answer
        cluster.partitions = options.partitions
        cluster.use = looksForDamage ? .damage : looking ? .looks : .begins
        cluster.patience = patience
        cluster.isImpatient = isImpatient
        if storesBodies { cluster.answerTime = max(cluster.answerTime, ClusterState.bodyPatience) }
        cluster.outage = watch.note
        do throws(StateError) {
            return ClusterAccess(cluster: try await ClusterState.connect(cluster), watch: watch, own: own)
        } catch {
            guard case .otherSchema = error, let own else { throw error }
            throw CommandFailure(
                .otherSchema,
                "\(error) '--namespace' names another. To begin anew, run 'gannet redis stop', and remove the folder \(own.data) of the private Redis."
            )
        }
    }

    /// Runs `body`, and closes the connections in any case.
    func closing<Value: Sendable>(_ body: (ClusterAccess) async throws -> Value) async throws -> Value {
        do {
            let value = try await body(self)
            await close()
            return value
        } catch {
            let named = (error as? StateError).map(cluster.naming) ?? error
            await close()
            throw named
        }
    }

    private func close() async {
        watch.stop()
        await cluster.close()
        withExtendedLifetime(own) {}
    }
}

extension ConnectionOptions {
    /// Runs `body` with the cluster, unless a signal comes first: a server may take its time to start, to load its data or to answer.
    func withAccess<Value: Sendable>(
        _ console: Console, patience: Duration = .seconds(60), isImpatient: Bool? = nil, looking: Bool = false,
        storesBodies: Bool = false, _ body: (ClusterAccess, Interruption) async throws -> Value
    ) async throws -> Value {
        let interruption = try Interruption()
        return try await interruption.watching {
            let opened = await interruption.cancelling {
                try await ClusterAccess.open(
                    self, console: console, patience: patience, isImpatient: isImpatient ?? (patience == .zero), looking: looking,
                    storesBodies: storesBodies)
            }
            guard let access = try opened.get(unlessInterrupted: interruption) else { throw CommandFailure(interruption.status, nil) }
            return try await access.closing { try await body($0, interruption) }
        }
    }

    /// Runs `body` with the cluster. An outage of Redis is an error at once: people who look do not want to wait.
    func withCluster<Value: Sendable>(
        _ console: Console, looking: Bool = false, looksForDamage: Bool = false, _ body: (ClusterState) async throws -> Value
    ) async throws -> Value {
        try await ClusterAccess.open(
            self, console: console, patience: .zero, isImpatient: true, looking: looking, looksForDamage: looksForDamage
        ).closing { try await body($0.cluster) }
    }
}

extension QueueTarget {
    func withCluster<Value: Sendable>(
        looking: Bool = false, looksForDamage: Bool = false, _ body: (ClusterState) async throws -> Value
    ) async throws -> Value {
        try await connection.withCluster(console, looking: looking, looksForDamage: looksForDamage, body)
    }

    /// The same with the queue.
    func withQueue<Value: Sendable>(looking: Bool = false, _ body: (FetchQueue) async throws -> Value) async throws -> Value {
        try await withCluster(looking: looking) { try await body($0.queue(queue)) }
    }
}
