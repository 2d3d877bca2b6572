import GannetBasics
import GannetFetch

/// A cache between HTTP clients and one origin, with nothing but the library in it, for a suite of tests that judges such caches
/// (`Scripts/cache-cases`).
///
/// Arguments: the port of the origin on this machine, `memory` or a folder for the disk tier. With a folder nothing is kept in memory.
/// Prints the port that it listens on, and serves until its input ends.
@main struct CacheProxy {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let origin = UInt16(words[1]) else {
            fatalError("Scripts/cache-cases starts this program, with two arguments.")
        }
        // A client that has left is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        var options = FetcherOptions()
        options.allowedNetworks = ["all"]
        if words[2] != "memory" {
            options.diskFolder = URL(filePath: words[2])
            options.memoryLimit = 0
        }
        let marks = SuiteMarks()
        let fetcher = try Fetcher(options, downloader: MarkingDownloader(downloader: try CurlDownloader(options.fetch), marks: marks))
        let listener = try Listener()
        print(listener.port)
        fflush(nil)
        OwnedThread.start(name: "proxy") {
            while let client = listener.accept() {
                OwnedThread.start(name: "proxy-client") {
                    ProxyConnection(client: client, origin: origin, fetcher: fetcher, marks: marks).serve()
                    close(client)
                }
            }
        }
        while readLine() != nil {}
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
        let client = GannetBasics.accept(descriptor, nil, nil)
        return client < 0 ? nil : client
    }
}
