import Crawl
import GannetBase
import GannetHTTP
import Results

/// `gannet thumbnail FILE|URL`: a picture at the size one needs.
struct ThumbnailCommand: Command {
    private static let output = Flag(
        "output", short: "o", .file(), "The file that receives the thumbnail instead of standard output.")
    private static let source = Positional(
        "picture", isSingle: true, "A file, '-' for standard input, or an http or https URL, which is fetched like 'get --fetch' does.")

    static let spec = CommandSpec(
        "thumbnail",
        summary: "Make a small picture of a file or URL.",
        positional: source,
        flags: [output.entry] + ThumbnailOptions.flags + [ThumbnailProgramOption.program.entry, StoreOptions.cache.entry]
            + FetchOptions.flagsForCalls + ConnectionOptions.flags + CommonFlags.everywhere,
        mostUsed: ["output", "width", "height", "fit", "format"],
        examples: [
            Example("gannet thumbnail photo.jpg -o small.webp --width 320", "Writes a WebP picture that is 320 pixels across at most."),
            Example(
                "gannet thumbnail https://example.com/a.jpg -o a.jpg --fit cover",
                "Fetches a picture and cuts it to a square of 320 pixels."),
        ])

    private let source: String
    private let output: String?
    private let thumbnail: ThumbnailOptions
    private let pool: ThumbnailPool
    private let cacheLimit: Int
    private let fetch: FetchOptions
    private let connection: ConnectionOptions
    private let console: Console

    init(_ arguments: Arguments) throws {
        source = arguments.single
        output = try arguments.optional(Self.output)
        thumbnail = try ThumbnailOptions(arguments, output: output ?? "")
        pool = ThumbnailPool(try ThumbnailProgramOption.program(arguments))
        cacheLimit = try arguments.require(StoreOptions.cache)
        fetch = try FetchOptions(arguments, forJobs: false)
        connection = try ConnectionOptions(arguments)
        console = Console(try LogOptions(arguments))
    }

    private var isURL: Bool { ["http://", "https://"].contains { source.lowercased().hasPrefix($0) } }

    func run() async throws -> ExitStatus {
        do throws(ThumbnailFailure) { try pool.check() } catch { throw CommandFailure(error) }
        defer { pool.close() }
        if !isURL { return try await deliver(PictureFile.bytes(of: source, atMost: pool.bounds.input)) }
        let settings = try fetch.checkedSettings()
        return try await connection.withAccess(console, patience: .zero) { access, interruption in
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

    private func deliver(_ picture: [UInt8]) async throws -> ExitStatus {
        let made = try await pool.result(thumbnail.request, of: picture).mapError { CommandFailure($0) }.get()
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
}

/// A picture that the user names.
private enum PictureFile {
    static func bytes(of path: String, atMost limit: Int) throws(CommandFailure) -> [UInt8] {
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
