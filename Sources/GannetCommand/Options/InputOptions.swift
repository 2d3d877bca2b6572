import CommandLineKit

/// Where `run` and `enqueue` take their URLs from: first those on the command line, then the file's.
struct InputOptions: Sendable {
    enum Source: Sendable, Equatable {
        case standardInput
        case file(String)
    }

    var urls: [String]
    var source: Source?

    private static let input = Flag(
        "input", short: "i", .file(), "A file with one URL a line, '-' for standard input. Lines that begin with '#' are comments.")

    static let positional = Positional("url", "URLs to fetch.")
    static let flags = [input.entry]

    init(_ arguments: Arguments) throws(UsageError) {
        urls = arguments.positionals
        source = try arguments.optional(Self.input).map { $0 == "-" ? .standardInput : .file($0) }
        guard source != nil || !urls.isEmpty else {
            throw arguments.usageError("Nothing to fetch: name URLs, or a file of them with '-i <file>' ('-i -' for standard input).")
        }
        guard !urls.contains("-") else {
            throw arguments.usageError("'-' is not a URL: use '-i -' to read standard input.")
        }
    }
}
