import CommandLineKit
import URLLists

/// Where `run` and `enqueue` take their URLs from: first those on the command line, then the file's.
struct InputOptions: Sendable {
    enum Source: Sendable, Equatable {
        case standardInput
        case file(String)
    }

    var urls: [String]
    var source: Source?
    /// How the file is to be read.
    var list = ListOptions()

    private static let input = Flag(
        "input", short: "i", .file(), isOnce: true,
        "A list of URLs, '-' for standard input: text with a URL a line ('#' begins a comment), CSV or TSV with a header, JSON lines or a sitemap; "
            + "each may be compressed with gzip.")

    static let positional = Positional("url", "URLs to fetch.")
    static let flags = [input.entry] + ListFlags.flags

    init(_ arguments: Arguments) throws(UsageError) {
        urls = arguments.positionals
        source = try arguments.optional(Self.input).map { $0 == "-" ? .standardInput : .file($0) }
        list = try ListFlags.options(from: arguments)
        if source == nil, let flag = ListFlags.firstGiven(in: arguments) {
            throw arguments.usageError("'--\(flag.name)' says how to read the input file, and there is none: name it with '-i <file>'.")
        }
        guard source != nil || !urls.isEmpty else {
            throw arguments.usageError("Nothing to fetch: name URLs, or a file of them with '-i <file>' ('-i -' for standard input).")
        }
        guard !urls.contains("-") else {
            throw arguments.usageError("'-' is not a URL: use '-i -' to read standard input.")
        }
    }
}
