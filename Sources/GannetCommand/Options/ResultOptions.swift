import Lists
import Results

/// How a run, an export or a worker writes what it has fetched.
enum ResultOptions {
    static let names = Flag(
        "name", .choice("style", of: NameStyle.allCases), default: NameStyle.hash.rawValue,
        "How the files of bodies are named: 'hash' for 3fa/3fa94c…-cat.jpg, 'host' for example.com/3fa/3fa94c…-cat.jpg, 'path' for "
            + "example.com/3fa/pets/3fa94c…-cat.jpg.")

    static let format = Flag(
        "output-format", .choice("format", of: OutputFormat.allCases), default: OutputFormat.files.rawValue,
        "How results are written. With 'files' each body is a file. With 'warc' requests and answers go into archives (WARC 1.1) as they went "
            + "over the wire, also those of redirects and errors. With 'shards' bodies become samples in tar files, as webdataset reads them, in "
            + "the order in which their fetches end. A folder keeps the format that it was begun with.")
    static let formatOfExport = Flag(
        "output-format", .choice("format", of: OutputFormat.allCases), default: OutputFormat.files.rawValue,
        "How bodies are written. With 'files' each body is a file. With 'warc' archives (WARC 1.1) get what went over the wire, where the batch kept it, "
            + "and bodies alone elsewhere. With 'shards' they become samples in tar files, as webdataset reads them. "
            + "A folder keeps the format that it was begun with.")

    static let samples = Flag(
        "samples-per-shard", .integer(in: 1...1_000_000), default: "10000", "How many samples a shard has. It ends earlier at 8 GB.")
    static let falsePictures = Toggle(
        "keep-false-pictures",
        "Make samples also of bodies that were served as pictures and are none, such as error pages. Such a sample has the ending of its bytes, "
            + "such as 'html'. Without this option such a row fails as not-a-picture.")
    static let archiveSize = Flag(
        "archive-size", .size(in: 100_000...100_000_000_000), default: "1GB",
        "The size of an archive file, after which the next one begins. It ends with a whole record, so it may be longer.")

    enum ManifestFormat: String, CaseIterable {
        case jsonl
        case parquet
    }

    static let manifest = Flag(
        "manifest-format", .choice("format", of: ManifestFormat.allCases), default: ManifestFormat.jsonl.rawValue,
        "'parquet' also writes manifest.parquet beside manifest.jsonl, with the carried values as columns. It takes 'python3' with the package "
            + "pyarrow.")

    /// The format that results are written in. Options of other formats are refused.
    static func format(_ arguments: Arguments, _ flag: Flag<OutputFormat> = format) throws -> OutputFormat {
        let format = try arguments.require(flag)
        if format != .files, arguments.origin(of: names.entry) == .option {
            throw arguments.usageError("'--name' names files of bodies, which '--output-format \(format.rawValue)' does not write.")
        }
        let owned = [(archiveSize.entry, OutputFormat.warc), (samples.entry, .shards), (falsePictures.entry, .shards)]
        for (option, owner) in owned where format != owner && arguments.origin(of: option) == .option {
            throw arguments.usageError("'--\(option.name)' is for '--output-format \(owner.rawValue)'.")
        }
        return format
    }
}

/// Makes `manifest.parquet`.
struct TableWriter: Sendable {
    private let python: PythonProgram

    /// Nil where no table is wanted. Throws where this machine cannot make one, before any work is done.
    static func prepare(_ format: ResultOptions.ManifestFormat) async throws -> TableWriter? {
        guard format == .parquet else { return nil }
        let writer = TableWriter(python: try PythonProgram(in: Surroundings.current.environment["PATH"]))
        try await ParquetManifest.check(writer.python)
        return writer
    }

    /// Replaces an earlier `manifest.parquet`.
    func write(in folder: RecordedFolder) async throws {
        try await Manifest.replaceTable(in: folder) { [python] manifest, output in
            try await ParquetManifest.write(of: manifest, to: output, by: python)
        }
    }
}
