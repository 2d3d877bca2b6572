import ClusterState
import CommandLineKit
import Gannet
import GannetBasics
import GannetServer
import HTTPEngine
import HTTPService
import Thumbnails

/// `gannet serve`: the gateway.
struct ServeCommand: Command {
    static let spec = CommandSpec(
        "serve",
        summary: "Answer clients that want a URL now, each URL fetched once.",
        flags: ServeOptions.flags + [ThumbnailProgramOption.program.entry, ThumbnailProgramOption.count.entry, StoreOptions.cache.entry]
            + FetchOptions.flagsForCalls
            + QueueTarget.creatingFlags,
        mostUsed: ["bind", "token-file", "memory", "host-limit", "redis"],
        examples: [
            Example("gannet serve", "Answers programs on this machine at http://127.0.0.1:9480/v1/fetch?url=…"),
            Example(
                "gannet serve --bind :9480 --behind-proxy --token-file tokens",
                "Answers clients of other machines that show a token. A proxy in front of it has the TLS."),
        ])

    private let serve: ServeOptions
    private let cacheLimit: Int
    private let fetch: FetchOptions
    private let target: QueueTarget
    private let thumbnails: ThumbnailPool

    init(_ arguments: Arguments) throws {
        serve = try ServeOptions(arguments)
        cacheLimit = try arguments.require(StoreOptions.cache)
        fetch = try FetchOptions(arguments, forJobs: false)
        target = try QueueTarget(arguments)
        var bounds = ThumbnailBounds()
        bounds.programs = try arguments.require(ThumbnailProgramOption.count)
        thumbnails = ThumbnailPool(try ThumbnailProgramOption.program(arguments), bounds)
    }

    func run() async throws -> ExitStatus {
        let console = target.console
        let settings = try fetch.checkedSettings()
        var gateway = try serve.settings()
        let listening = try serve.serviceOptions()
        gateway.queue = target.queue
        gateway.bodyLimit = cacheLimit
        defer { thumbnails.close() }
        return try await target.connection.withAccess(console, patience: .zero) { access, interruption in
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
                "serving on \(url) (/v1/fetch, /v1/openapi.json); Ctrl-C ends it.",
                [(key: "event", value: "listening"), (key: "address", value: .string(url))])
            for await _ in interruption.stops { break }
            service.stop()
            await client.close()
            return .done
        }
    }

    private func fetching(_ console: Console) -> ClusterFetch.Options {
        var options = fetch.fetching(cacheLimit: cacheLimit)
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
