import GannetBase
import GannetFetch

/// A cache between HTTP clients and one origin, with nothing but the library in it, for a suite of tests that judges such caches
/// (`Scripts/cache-cases`).
///
/// Arguments: the port of the origin on this machine, and `memory`, a folder for the disk tier, or `gateway:` with the port of a gateway,
/// which is the cache then. With a folder nothing is kept in memory.
/// Prints the port that it listens on, and serves until its input ends.
enum CacheProxy: HelperJob {
    static func run(_ words: [String]) async throws {
        guard words.count == 3, let origin = UInt16(words[1]) else {
            fatalError("Scripts/cache-cases starts this program, with two arguments.")
        }
        // A client that has left is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        let marks = SuiteMarks()
        if words[2].hasPrefix("gateway:"), let gateway = UInt16(words[2].dropFirst("gateway:".count)) {
            let marking = try Listener()
            marking.serveAll { MarkingConnection(client: $0, origin: origin, marks: marks).serve() }
            let front = try Listener()
            front.serveAll { GatewayConnection(client: $0, gateway: gateway, origin: marking.port, marks: marks).serve() }
            return await front.untilInputEnds()
        }
        var options = FetcherOptions()
        options.allowedNetworks = ["all"]
        if words[2] != "memory" {
            options.diskFolder = URL(filePath: words[2])
            options.memoryLimit = 0
        }
        let fetcher = try Fetcher(options, downloader: MarkingDownloader(downloader: try CurlDownloader(options.fetch), marks: marks))
        let listener = try Listener()
        listener.serveAll { ProxyConnection(client: $0, origin: origin, fetcher: fetcher, marks: marks).serve() }
        await listener.untilInputEnds()
        await fetcher.close()
    }
}

/// A socket on a free port of this machine.
struct Listener: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        guard let address = SocketAddress("127.0.0.1", port: 0) else { fatalError("127.0.0.1 is an address.") }
        descriptor = socket(address.family, SocketAddress.stream, 0)
        let number = descriptor
        guard address.withPointer({ bind(number, $0, $1) }) == 0, listen(descriptor, 128) == 0,
            let port = SocketAddress.port(ofSocket: descriptor)
        else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.port = port
    }

    /// The next client; `nil` when the system has none to give any more.
    func accept() -> Int32? {
        let client = GannetBase.accept(descriptor, nil, nil)
        return client < 0 ? nil : client
    }

    /// Each connection has a thread, and is closed behind its one request.
    func serveAll(_ serve: @escaping @Sendable (Int32) -> Void) {
        OwnedThread.start(name: "proxy") {
            while let client = accept() {
                OwnedThread.start(name: "proxy-client") {
                    serve(client)
                    close(client)
                }
            }
        }
    }

    /// Says the port.
    func untilInputEnds() async {
        print(port)
        fflush(nil)
        while readLine() != nil {}
    }
}
