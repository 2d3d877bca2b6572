import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results
import Server

/// `gannet serve`: the gateway.
enum ServeCommand {
    static let spec = CommandSpec(
        "serve",
        summary: "Answer clients that want a URL now, each URL fetched once.",
        flags: ServeOptions.flags + [
            ThumbnailOptions.program.entry, ThumbnailOptions.programs.entry, StoreOptions.ofGateway.entry, StoreOptions.cache.entry,
        ] + FetchOptions.flagsForCalls + [ServeOptions.drainTimeout.entry] + QueueTarget.creatingFlags,
        mostUsed: ["bind", "token-file", "memory", "host-limit", "redis"],
        examples: [
            "gannet serve": "Answers programs on this machine at http://127.0.0.1:9480/v1/fetch?url=…",
            "gannet serve --bind :9480 --behind-proxy --token-file tokens":
                "Answers clients of other machines that show a token. A proxy in front of it has the TLS.",
        ]
    ) { try await run($0) }

    private static func run(_ arguments: Arguments) async throws -> ExitStatus {
        let options = try ServeOptions(arguments)
        let store = try StoreOptions(arguments)
        let fetch = try FetchOptions(arguments, forJobs: false)
        var gateway = options.gateway
        if Int(clamping: fetch.settings.maximumBody) > gateway.room.limit {
            throw arguments.usageError(
                "'--memory-under-way' is less than '--max-body': such a body could never come. Raise the one, or lower the other.")
        }
        let target = try QueueTarget(arguments)
        let console = target.console
        let drainTimeout = try arguments.require(ServeOptions.drainTimeout)
        var bounds = ThumbnailBounds()
        bounds.programs = try arguments.require(ThumbnailOptions.programs)
        let thumbnails = ThumbnailPool(try ThumbnailOptions.program(arguments), bounds)
        defer { thumbnails.close() }
        var settings = try fetch.checkedSettings()
        settings.room = gateway.room
        gateway.queue = target.queue
        gateway.bodyLimit = store.cacheLimit
        gateway.stores = try store.openToRead()
        // A user who has named a program means to have one.
        if try arguments.optional(ThumbnailOptions.program) != nil {
            do throws(ThumbnailFailure) { try thumbnails.check() } catch { throw CommandFailure(error) }
        }
        var fetching = fetch.fetching(cacheLimit: store.cacheLimit)
        fetching.memoryLimit = options.memory
        // An answer that says nothing is fresh as long as it is for workers, who share it.
        fetching.freshness = fetch.worker.freshness
        fetching.full = {
            console.warn(
                "Redis is full. It serves the answers that it has, and takes no further ones: raise its maxmemory, or set '--cache-limit' below it.",
                [(key: "event", value: "redisFull")])
        }
        return try await target.connection.withAccess(console, patience: .zero, isImpatient: false) { access, interruption in
            fetch.sayWhatProxyMeans(console)
            let client = try await ClusterFetch(access.cluster, settings, fetching)
            let server = GatewayServer(access.cluster, client, gateway, options.service.counts, thumbnails)
            let service: HTTPService
            do throws(HTTPServiceFailure) {
                service = try HTTPService(address: options.bind.host, port: options.bind.port, options.service, server.reply)
            } catch {
                await client.close()
                throw CommandFailure(.unavailable, error.description)
            }
            let url = ListenAddress(host: options.bind.host, port: service.port).url(isTLS: options.service.tls != nil)
            console.note(
                "serving on \(url) (the window; /v1/fetch, /v1/openapi.json); Ctrl-C ends it.",
                [(key: "event", value: "listening"), (key: "address", value: .string(url))])
            let watching = Task { for await outage in access.cluster.outages { access.watch.note(outage) } }
            for await _ in interruption.stops { break }
            watching.cancel()
            let left = await drain(service, within: drainTimeout, interruption, console)
            service.stop()
            await client.close()
            return left == 0 ? .done : interruption.status
        }
    }

    /// Lets requests come to their end, within a time. Returns how many did not.
    private static func drain(
        _ service: HTTPService, within drainTimeout: Duration, _ interruption: Interruption, _ console: Console
    ) async -> Int {
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
}
