import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results
import Server

/// The window of a run: a gateway for browsers of this machine. It stays until the run ends, and at a terminal until Ctrl-C.
struct RunWindow: Sendable {
    private let service: HTTPService
    private let server: GatewayServer
    private let client: ClusterFetch
    private let thumbnails: ThumbnailPool
    private let console: Console
    private let url: String
    /// The pictures that the run finds in its folder.
    let found: FoundPictures

    private static let host = "127.0.0.1"
    /// The port of `gannet serve`; another one is taken where it has a user.
    private static let usualPort: UInt16 = 9480
    /// Redis' memory for bodies that clients ask for besides the run's.
    private static let bodyLimit = 100_000_000
    /// How long browsers have to take their last answers.
    private static let drainTime = Duration.seconds(1)

    static func open(
        _ options: RunCommand, _ settings: FetchSettings, queue: String, _ access: ClusterAccess, _ folder: BodyFolder
    ) async throws
        -> RunWindow
    {
        var gateway = GatewaySettings()
        gateway.queue = queue
        gateway.batch = options.batch
        gateway.bodyLimit = bodyLimit
        gateway.stores = [folder]
        gateway.favourites = "\(folder.path)/.gannet/favourites.json"
        let found = FoundPictures()
        gateway.found = found
        let thumbnails = ThumbnailPool(ThumbnailProgram(named: nil, beside: Executable.path), ThumbnailBounds())
        let client = try await ClusterFetch(access.cluster, settings, options.fetch.fetching(cacheLimit: bodyLimit))
        let listening = HTTPServiceOptions()
        let server = GatewayServer(access.cluster, client, gateway, listening.counts, thumbnails)
        let service: HTTPService
        do throws(HTTPServiceFailure) {
            service = try listen(listening, server)
        } catch {
            await client.close()
            throw CommandFailure(.unavailable, error.description)
        }
        let url = ListenAddress(host: host, port: service.port).url + "/"
        options.console.note("the window of this run is \(url)", [(key: "event", value: "window"), (key: "address", value: .string(url))])
        return RunWindow(
            service: service, server: server, client: client, thumbnails: thumbnails, console: options.console, url: url, found: found)
    }

    private static func listen(_ options: HTTPServiceOptions, _ server: GatewayServer) throws(HTTPServiceFailure) -> HTTPService {
        do throws(HTTPServiceFailure) {
            return try HTTPService(address: host, port: usualPort, options, server.reply)
        } catch {
            return try HTTPService(address: host, port: 0, options, server.reply)
        }
    }

    /// Whether somebody sees the address, and can end the window.
    var stays: Bool { console.terminal != nil }

    /// Shows the run that has ended, until a signal or `gannet run --finish` comes.
    func stay(_ interruption: Interruption, _ early: EarlyEnd) async {
        server.runHasEnded()
        console.note(
            "the window stays at \(url) until Ctrl-C.", [(key: "event", value: "windowStays"), (key: "address", value: .string(url))])
        _ = await interruption.cancelling { try await early.asked() }
    }

    func close(_ interruption: Interruption) async {
        await interruption.cleaningUp(within: Self.drainTime) { await service.drain() }
        service.stop()
        await client.close()
        thumbnails.close()
    }
}
