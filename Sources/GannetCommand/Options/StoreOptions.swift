import Crawl
import Results

/// Where bodies are kept.
struct StoreOptions: Sendable {
    /// Folders of workers, in the order in which they are asked. None is Redis.
    var folders: [String]
    /// Bytes of Redis' memory for bodies.
    var cacheLimit: Int

    private static let store = Flag(
        "store", .folder("redis|dir"), default: "redis", section: .fetching,
        "Where bodies are kept: 'redis', or a folder ('./redis' for one of that name), which several workers may share.")
    // A variable may have been set for 'work', whose folder may have any other character in its name.
    private static let toRead = Flag(
        "store", .folder("redis|dir"), default: "redis", isRepeatable: true, separator: "\n", section: .fetching,
        "Where workers keep bodies: 'redis', or their folder. Given again, each is asked in turn; Redis is asked in any case.")
    /// The gateway's own fetches go to Redis. This is for what workers have fetched.
    static let ofGateway = Flag(
        "store", .folder("redis|dir"), default: "redis", isRepeatable: true, separator: "\n", section: .fetching,
        "Where the workers keep bodies: 'redis', or their folder, from which the window shows pictures. Given again, each is asked in turn."
    )
    static let cache = Flag(
        "cache-limit", .size(in: 1_000_000...1_000_000_000_000), default: "1GB", section: .fetching,
        "How much of Redis' memory bodies may take. The body not used for longest makes room for a new one.")

    /// The options of a worker.
    static let flags = [store.entry, cache.entry]
    static let flagsToRead = [toRead.entry, cache.entry]

    init(_ arguments: Arguments) throws {
        // Each command has one of these flags.
        folders = try arguments.all(Self.store).filter { $0 != "redis" }
        cacheLimit = try arguments.require(Self.cache)
    }

    /// The stores that have bodies of workers, besides Redis.
    func openToRead() throws -> [any BodyStore] { try folders.map { try WorkFolder.reading($0) } }
}

/// `--name`: how the files of bodies are named.
enum NameOption {
    static let style = Flag(
        "name", .choice("style", of: NameStyle.allCases.map(\.rawValue)), default: NameStyle.hash.rawValue,
        "How the files of bodies are named: 'hash' for 3fa/3fa94c…-cat.jpg, 'host' for example.com/3fa/3fa94c…-cat.jpg, 'path' for "
            + "example.com/3fa/pets/3fa94c…-cat.jpg.")

    static func style(_ arguments: Arguments) throws -> NameStyle {
        NameStyle(rawValue: try arguments.require(style)) ?? .hash
    }
}

/// `--output-format`: how a run or an export writes its results.
enum OutputFormatOption {
    static let format = Flag(
        "output-format", .choice("format", of: OutputFormat.allCases.map(\.rawValue)), default: OutputFormat.files.rawValue,
        "How results are written. With 'files' each body is a file. With 'warc' requests and answers go into archives (WARC 1.1) as they went "
            + "over the wire, also those of redirects and errors. With 'shards' bodies become samples in tar files, as webdataset reads them, in "
            + "the order in which their fetches end. A folder keeps the format that it was begun with.")

    static let samples = Flag(
        "samples-per-shard", .integer(in: 1...1_000_000), default: "10000", "How many samples a shard has. It ends earlier at 8 GB.")

    static let falsePictures = Toggle(
        "keep-false-pictures",
        "Make samples also of bodies that were served as pictures and are none, such as error pages. Such a sample has the ending of its bytes, "
            + "such as 'html'. Without this option such a row fails as not-a-picture.")

    static let ofExport = Flag(
        "output-format", .choice("format", of: OutputFormat.allCases.map(\.rawValue)), default: OutputFormat.files.rawValue,
        "How bodies are written. With 'files' each body is a file. With 'warc' archives (WARC 1.1) get what went over the wire, where the batch kept it, "
            + "and bodies alone elsewhere. With 'shards' they become samples in tar files, as webdataset reads them. "
            + "A folder keeps the format that it was begun with.")

    static let archiveSize = Flag(
        "archive-size", .size(in: 100_000...100_000_000_000), default: "1GB",
        "The size of an archive file, after which the next one begins. It ends with a whole record, so it may be longer.")

    static func format(_ arguments: Arguments, _ flag: Flag<String> = format) throws -> OutputFormat {
        let format = OutputFormat(rawValue: try arguments.require(flag)) ?? .files
        if format != .files, arguments.origin(of: NameOption.style.entry) == .option {
            throw arguments.usageError("'--name' names files of bodies, which '--output-format \(format.rawValue)' does not write.")
        }
        let owned = [(archiveSize.entry, OutputFormat.warc), (samples.entry, .shards), (falsePictures.entry, .shards)]
        for (option, owner) in owned where format != owner {
            guard arguments.origin(of: option) == .option else { continue }
            throw arguments.usageError("'--\(option.name)' is for '--output-format \(owner.rawValue)'.")
        }
        return format
    }
}

/// `--drain-timeout`: how a worker or a gateway ends that is asked to stop.
enum DrainOption {
    static let time = Flag(
        "drain-timeout", .duration(in: .zero...(.seconds(86_400))), default: "25s", section: .fetching,
        "How long requests in flight may go on after the first signal. Then their jobs are handed back.")

    static let ofGateway = Flag(
        "drain-timeout", .duration(in: .zero...(.seconds(86_400))), default: "25s",
        "How long clients that wait for their answers may go on after the first signal. Then their connections are closed.")
}
