import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results

/// `gannet work`: one worker process.
struct WorkCommand {
    private static let untilEmpty = Toggle("until-empty", "End when nothing is left to do, instead of waiting for more.")

    static let spec = CommandSpec(
        "work",
        summary: "Fetch the URLs of a queue until a signal comes.",
        flags: StoreOptions.flags + [
            ResultOptions.names.entry, untilEmpty.entry, FetchOptions.drainTimeout.entry, ListenOption.address.entry,
        ]
            + FetchOptions.flagsForJobs + QueueTarget.creatingFlags,
        mostUsed: ["store", "concurrency", "host-limit", "until-empty", "redis", "queue"],
        examples: [
            "gannet work --redis redis://queue.example": "Fetches the URLs of the queue until Ctrl-C, and keeps their bodies in Redis.",
            "gannet work --store /srv/bodies --concurrency 256 --listen :9464":
                "Keeps bodies in a folder, and answers questions about its health.",
        ]
    ) { try await WorkCommand($0).run() }

    private let store: StoreOptions
    private let names: NameStyle
    private let listen: ListenAddress?
    private let settings: FetchSettings
    private let worker: WorkerOptions
    private let fetch: FetchOptions
    private let target: QueueTarget

    private init(_ arguments: Arguments) throws {
        store = try StoreOptions(arguments)
        names = try arguments.require(ResultOptions.names)
        listen = try arguments.optional(ListenOption.address)
        fetch = try FetchOptions(arguments)
        var worker = fetch.worker
        worker.endsWhenEmpty = arguments.isSet(Self.untilEmpty)
        worker.drainTimeout = try arguments.require(FetchOptions.drainTimeout)
        self.worker = worker
        target = try QueueTarget(arguments)
        settings = try fetch.checkedSettings()
    }

    private func run() async throws -> ExitStatus {
        let console = target.console
        let folder = try store.folders.first.map { try WorkFolder.open($0, names: names) }
        try folder?.checkRoom()
        let lock: FolderLock? = if let folder { try Self.lock(folder, console) } else { nil }
        defer { withExtendedLifetime(lock) {} }
        let endpoint = try listen.map { try WorkerEndpoint($0, console: console) }
        defer { endpoint?.stop() }
        return try await target.connection.withAccess(console, storesBodies: folder == nil) { access, interruption in
            let tally = WorkTally(console, access.watch, proxy: settings.proxy, patience: fetch.giveUpAfter)
            let bodies = folder == nil ? try await openBodies(access) : nil
            guard let output: any JobOutput = folder ?? bodies else { throw CommandFailure(.defect, "No store for bodies was opened.") }
            endpoint?.watch(
                .init(
                    cluster: access.cluster, queue: target.queue, options: worker, bodyLimit: folder == nil ? store.cacheLimit : nil,
                    tally: tally, interruption: interruption))
            fetch.sayWhatProxyMeans(console)
            console.note("working on the queue '\(target.queue)'; Ctrl-C finishes what is in flight and ends.")
            await tellIfUnknown(access.cluster)
            let outcome = await tally.showing {
                try await Worker.work(
                    on: target.queue, of: access.cluster, fetch: settings, into: output, options: worker, stops: interruption.stops,
                    activity: tally.activity, report: tally.note)
            }
            bodies?.close()
            if case .failure(let failure as StorageFailure) = outcome, failure.isFullDisk { folder?.noteFull() }
            if case .success(.empty) = outcome { await tally.lookForLoss(access.cluster.queue(target.queue)) }
            let status = Self.status(try outcome.get(), losses: tally.losses, interruption)
            // Among the lines of JSON, for people who collect both outputs.
            guard console.log.format == .text else {
                tally.logSummary(status)
                return status
            }
            return try console.print(prose: tally.summary, last: status)
        }
    }

    /// No request takes as long as a day. So an older file is that of a worker that was killed.
    private static let oldFile = Duration.seconds(86_400)

    private static func lock(_ folder: BodyFolder, _ console: Console) throws -> FolderLock {
        let lock = try WorkFolder.lock(folder, .shared)
        let swept = lock.sweep(olderThan: oldFile)
        if swept > 0 { console.detail("removed \(Amounts.count(swept, "file")) that killed workers left half-written") }
        return lock
    }

    /// A worker that was asked to stop and has finished its jobs has succeeded.
    private static func status(_ end: WorkerEnd, losses: Int, _ interruption: Interruption) -> ExitStatus {
        switch end {
        case .empty where losses > 0, .missing: .unavailable
        case .empty, .drained: .done
        // A worker that 'workers drain' asked ends as after SIGTERM.
        case .handedBack: interruption.request == nil ? .terminated : interruption.status
        }
    }

    private func openBodies(_ access: ClusterAccess) async throws -> RedisBodies {
        let cluster = access.cluster
        await checkRoom(cluster)
        return RedisBodies(
            cluster, over: cluster.connection,
            limit: store.cacheLimit, temporaryFolder: FileManager.default.temporaryDirectory.path, patience: worker.outagePatience,
            outage: access.watch.note)
    }
}

extension WorkCommand {
    /// A queue that nobody has put anything into may be a mistyped one, where there are others.
    private func tellIfUnknown(_ cluster: ClusterState) async {
        guard let isUnknown = try? await cluster.queue(target.queue).overview().isUnknown, isUnknown,
            let others = try? await cluster.queues(), let names = UnknownQueue(target.queue, among: others.map(\.name)).names
        else { return }
        target.console.note("nothing was put into the queue '\(target.queue)' yet. \(names).")
    }

    /// Says that bodies may fill a Redis whose queue needs room as well.
    private func checkRoom(_ cluster: ClusterState) async {
        guard let memory = try? await cluster.server().memoryLimit, memory > 0, store.cacheLimit >= memory else { return }
        target.console.warn(
            "Redis has a maxmemory of \(Amounts.bytes(memory)), and '--cache-limit' lets bodies take \(Amounts.bytes(store.cacheLimit)). "
                + "The queue needs room, too: lower '--cache-limit', or raise maxmemory.",
            [(key: "event", value: "cacheLimitTooHigh"), (key: "maxMemoryBytes", value: .integer(memory))])
    }
}
