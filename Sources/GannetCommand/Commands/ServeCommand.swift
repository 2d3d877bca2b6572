import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results
import Server

/// `gannet serve`: the gateway.
struct ServeCommand: Command {
    static let spec = CommandSpec(
        "serve",
        summary: "Answer clients that want a URL now, each URL fetched once.",
        flags: ServeOptions.flags + [
            ThumbnailProgramOption.program.entry, ThumbnailProgramOption.count.entry, StoreOptions.ofGateway.entry,
            StoreOptions.cache.entry,
        ]
            + FetchOptions.flagsForCalls + [DrainOption.ofGateway.entry]
            + QueueTarget.creatingFlags,
        mostUsed: ["bind", "token-file", "memory", "host-limit", "redis"],
        examples: [
            Example("gannet serve", "Answers programs on this machine at http://127.0.0.1:9480/v1/fetch?url=…"),
            Example(
                "gannet serve --bind :9480 --behind-proxy --token-file tokens",
                "Answers clients of other machines that show a token. A proxy in front of it has the TLS."),
        ])

    private let serve: ServeOptions
    private let store: StoreOptions
    private let fetch: FetchOptions
    private let target: QueueTarget
    private let thumbnails: ThumbnailPool
    private let namesProgram: Bool
    private let drainTimeout: Duration

    init(_ arguments: Arguments) throws {
        serve = try ServeOptions(arguments)
        store = try StoreOptions(arguments)
        fetch = try FetchOptions(arguments, forJobs: false)
        if Int(clamping: fetch.settings.maximumBody) > serve.room.limit {
            throw arguments.usageError(
                "'--memory-under-way' is less than '--max-body': such a body could never come. Raise the one, or lower the other.")
        }
        target = try QueueTarget(arguments)
        drainTimeout = try arguments.require(DrainOption.ofGateway)
        namesProgram = try ThumbnailProgramOption.isNamed(arguments)
        var bounds = ThumbnailBounds()
        bounds.programs = try arguments.require(ThumbnailProgramOption.count)
        thumbnails = ThumbnailPool(try ThumbnailProgramOption.program(arguments), bounds)
    }

    private var console: Console { target.console }

    func run() async throws -> ExitStatus {
        var settings = try fetch.checkedSettings()
        settings.room = serve.room
        var gateway = try serve.settings()
        let listening = try serve.serviceOptions()
        gateway.queue = target.queue
        gateway.bodyLimit = store.cacheLimit
        gateway.stores = try store.openToRead()
        if namesProgram { do throws(ThumbnailFailure) { try thumbnails.check() } catch { throw CommandFailure(error) } }
        defer { thumbnails.close() }
        return try await target.connection.withAccess(console, patience: .zero, isImpatient: false) { access, interruption in
            fetch.sayWhatProxyMeans(console)
            let client = try await ClusterFetch(access.cluster, settings, fetching(console))
            let server = GatewayServer(access.cluster, client, gateway, listening.counts, thumbnails)
            let service: HTTPService
            do throws(HTTPServiceFailure) {
                service = try HTTPService(address: serve.bind.host, port: serve.bind.port, listening, server.reply)
            } catch {
                await client.close()
                throw CommandFailure(.unavailable, error.description)
            }
            let url = ListenAddress(host: serve.bind.host, port: service.port).url(isTLS: serve.hasTLS)
            console.note(
                "serving on \(url) (the window; /v1/fetch, /v1/openapi.json); Ctrl-C ends it.",
                [(key: "event", value: "listening"), (key: "address", value: .string(url))])
            let watching = Task { for await outage in access.cluster.outages { access.watch.note(outage) } }
            for await _ in interruption.stops { break }
            watching.cancel()
            let left = await drain(service, server, interruption)
            service.stop()
            await client.close()
            return left == 0 ? .done : interruption.status
        }
    }

    /// Lets requests come to their end, within a time. Returns how many did not.
    private func drain(_ service: HTTPService, _ server: GatewayServer, _ interruption: Interruption) async -> Int {
        server.prepareToEnd()
        let open = service.openRequests
        if open > 0 {
            console.note(
                "stopping: \(Amounts.count(open, "request")) may go on for up to \(Amounts.time(drainTimeout)); another signal ends them.",
                [(key: "event", value: "stopping"), (key: "requests", value: .integer(open))])
        }
        await interruption.cleaningUp(within: drainTimeout) { await service.drain() }
        let left = service.openRequests
        if left > 0 {
            console.warn(
                "\(Amounts.count(left, "request")) had no answer yet; their connections are closed.",
                [(key: "event", value: "cutOff"), (key: "requests", value: .integer(left))])
        }
        return left
    }

    private func fetching(_ console: Console) -> ClusterFetch.Options {
        var options = fetch.fetching(cacheLimit: store.cacheLimit)
        options.memoryLimit = serve.memory
        // An answer that says nothing is fresh as long as it is for workers, who share it.
        options.freshness = WorkerOptions().freshness
        options.full = {
            console.warn(
                "Redis is full. It serves the answers that it has, and takes no further ones: raise its maxmemory, or set '--cache-limit' below it.",
                [(key: "event", value: "redisFull")])
        }
        return options
    }
}
