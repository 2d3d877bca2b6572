import Crawl
import GannetBase
import GannetHTTP
import Results

/// `gannet thumbnail FILE|URL`: a picture at the size one needs.
enum ThumbnailCommand {
    private static let output = Flag(
        "output", short: "o", .file(), "The file that receives the thumbnail instead of standard output.")
    private static let source = Positional(
        "picture", isSingle: true, "A file, '-' for standard input, or an http or https URL, which is fetched like 'get --fetch' does.")

    static let spec = CommandSpec(
        "thumbnail",
        summary: "Make a small picture of a file or URL.",
        positional: source,
        flags: [output.entry] + ThumbnailOptions.flags + [ThumbnailOptions.program.entry, StoreOptions.cache.entry]
            + FetchOptions.flagsForCalls + QueueTarget.flagsWithoutQueue,
        mostUsed: ["output", "width", "height", "fit", "format"],
        examples: [
            "gannet thumbnail photo.jpg -o small.webp --width 320": "Writes a WebP picture that is 320 pixels across at most.",
            "gannet thumbnail https://example.com/a.jpg -o a.jpg --fit cover": "Fetches a picture and cuts it to a square of 320 pixels.",
        ]
    ) { try await run($0) }

    private static func run(_ arguments: Arguments) async throws -> ExitStatus {
        let (source, output) = (arguments.single, try arguments.optional(output))
        let request = try ThumbnailOptions.request(arguments, output: output ?? "")
        let cacheLimit = try arguments.require(StoreOptions.cache)
        let fetch = try FetchOptions(arguments, forJobs: false)
        let target = try QueueTarget(arguments)
        let console = target.console
        let pool = ThumbnailPool(try ThumbnailOptions.program(arguments))
        do throws(ThumbnailFailure) { try pool.check() } catch { throw CommandFailure(error) }
        defer { pool.close() }
        @Sendable func deliver(_ picture: [UInt8]) async throws -> ExitStatus {
            let made = try await pool.result(request, of: picture).mapError { CommandFailure($0) }.get()
            if let output, output != "-" {
                try OutputFile.write(made.bytes, to: output)
                console.detail("wrote \(made.size) pixels, \(Amounts.bytes(made.bytes.count)), to \(output)")
                return .done
            }
            guard isatty(Surroundings.current.output) == 0 || output == "-" else {
                throw CommandFailure(.wrongUsage, "A picture would disturb this terminal: '-o <file>' writes it to a file.")
            }
            try console.print(bytes: made.bytes)
            return .done
        }
        guard ["http://", "https://"].contains(where: { source.lowercased().hasPrefix($0) }) else {
            return try await deliver(bytes(of: source, atMost: pool.bounds.input))
        }
        let settings = try fetch.checkedSettings()
        return try await target.connection.withAccess(console, patience: .zero) { access, interruption in
            let outcome = await interruption.cancelling { () -> ExitStatus in
                fetch.sayWhatProxyMeans(console)
                let client = try await ClusterFetch(access.cluster, settings, fetch.fetching(cacheLimit: cacheLimit))
                let (fetched, _) = await client.body(of: source)
                await client.close()
                switch fetched {
                case .success(let picture): return try await deliver(picture)
                case .failure(let error):
                    console.complain("failed: \(error.description)")
                    return .someFailed
                }
            }
            return try outcome.get(unlessInterrupted: interruption) ?? interruption.status
        }
    }

    /// The picture in a file that the user names.
    private static func bytes(of path: String, atMost limit: Int) throws(CommandFailure) -> [UInt8] {
        let descriptor = path == "-" ? fcntl(Surroundings.current.input, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, Descriptor.message(errno)) }
        defer { close(descriptor) }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let most = isFile ? min(limit, Int(status.st_size)) : limit
        guard let bytes = Descriptor.contents(of: descriptor, atMost: most + 1) else { throw failure(path, Descriptor.message(errno)) }
        guard bytes.count <= limit else { throw failure(path, "it has more than \(Amounts.bytes(limit))") }
        return bytes
    }

    private static func failure(_ path: String, _ why: String) -> CommandFailure {
        CommandFailure(.noUsableInput, "The picture \(Sentence.quoted(path)) cannot be read: \(why).")
    }
}
