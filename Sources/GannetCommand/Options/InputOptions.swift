import GannetBase
import GannetHTTP
import Lists

/// The URLs of `run` and `enqueue`: the ones on the command line first, then the file's.
struct InputOptions: Sendable {
    enum Source: Sendable, Equatable {
        case standardInput
        case file(String)
    }

    var urls: [String]
    var source: Source?
    /// How to read the file.
    var list = ListOptions()

    /// Whether the list may come from a keyboard.
    var mayReadTerminal: Bool {
        switch source {
        case .standardInput: return true
        case .file(let path):
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
        case nil: return false
        }
    }

    private static let input = Flag(
        "input", short: "i", .file(),
        "A file with a list of URLs; '-' is standard input. It is text with one URL a line ('#' begins a comment), CSV or TSV with a header, "
            + "JSON lines or a sitemap, and each may be compressed with gzip. Or it is a Parquet file, which takes 'python3' with the package "
            + "pyarrow.")

    static let positional = Positional("url", "URLs to fetch.")
    static let flags = [input.entry] + ListFlags.flags

    /// - Parameter rest: The required options of the command, for the command line that an error shows.
    init(_ arguments: Arguments, rest: String = "", carries: Bool = false, verify: VerifyOption? = nil) throws {
        urls = arguments.positionals
        source = try arguments.optional(Self.input).map { $0 == "-" ? .standardInput : .file($0) }
        list = try ListFlags.options(from: arguments)
        if carries { list.carried = try CarryOption.columns(from: arguments) }
        if let verify { list.carried = verify.added(to: list.carried) }
        if source == nil { try ListFlags.refuse(arguments) }
        guard source != nil || !urls.isEmpty else {
            throw arguments.usageError("Nothing to fetch: name URLs, or a file of them with '-i <file>' ('-i -' for standard input).")
        }
        guard !urls.contains("-") else {
            throw arguments.usageError("'-' is not a URL: use '-i -' to read standard input.")
        }
        if let file = urls.first(where: { !$0.contains("://") && FileManager.default.fileExists(atPath: $0) }) {
            let line = arguments.path.joined(separator: " ") + " -i " + Sentence.quotedForShell(file) + rest
            throw arguments.usageError("\(Sentence.quoted(file)) is a file, not a URL. To fetch the URLs in it: \(line)")
        }
    }
}

/// How to read an input file, where its first bytes do not tell everything.
enum ListFlags {
    private static let format = Flag(
        "format", .choice("format", of: ListFormat.allCases.map(\.rawValue)),
        "The format of the input: text (one URL a line), csv, tsv, jsonl (one JSON object a line), sitemap or parquet. Without this option "
            + "its first bytes tell, or a name that ends with '.parquet'.")
    private static let column = Flag(
        "column", .text("name"),
        "The column of a CSV, TSV or Parquet file that holds the URLs. Without this option it is one with a usual name: url, image_url, link …"
    )
    private static let field = Flag(
        "field", .text("path"), "The field of JSON lines that holds the URLs, such as 'image.url'. Without this option it is 'url'.")
    private static let idColumn = Flag(
        "id-column", .text("name"),
        "The column, or the field of JSON lines, that holds your own ids. The manifests of 'run' and of 'export -i' repeat "
            + "them.")

    static let flags = [format.entry, column.entry, field.entry, idColumn.entry]

    static func options(from arguments: Arguments) throws -> ListOptions {
        var options = ListOptions()
        options.format = try arguments.optional(format).flatMap(ListFormat.init)
        options.column = try arguments.optional(column)
        options.field = try arguments.optional(field)
        options.idColumn = try arguments.optional(idColumn)
        return options
    }

    /// On the command line itself: the environment's variables are there for other commands too.
    static func refuse(_ arguments: Arguments) throws {
        guard
            let flag = (flags + [CarryOption.columns.entry, VerifyOption.flag.entry]).first(where: { arguments.origin(of: $0) == .option })
        else { return }
        throw arguments.usageError(
            "'--\(flag.name)' says how to read an input file, but no input file is named: name it with '-i <file>'.")
    }
}

extension InputOptions {
    /// Tells this input from another, and from itself after a change. It is `nil` for standard input, which cannot be compared before it
    /// is read.
    var fingerprint: String? {
        switch source {
        case .file(let path):
            var status = stat()
            _ = stat(path, &status)
            let modified = status.modification
            return Fingerprint.of(
                urls + ["\(status.st_ino)", "\(status.st_size)", "\(modified.tv_sec).\(modified.tv_nsec)", list.fingerprint])
        case .standardInput: return nil
        case nil: return Fingerprint.of(urls)
        }
    }
}

extension ListOptions {
    /// Tells the rows that are read with these options from others. It is the text of a version that carried nothing, so that a batch which
    /// that version began goes on. Carried values make no other rows.
    var fingerprint: String {
        let values: [(String, Any)] = [
            ("format", format as Any), ("column", column as Any), ("idColumn", idColumn as Any), ("field", field as Any),
        ]
        return "ListOptions(" + values.map { "\($0.0): \(String(reflecting: $0.1))" }.joined(separator: ", ") + ", unpacks: \(unpacks))"
    }
}

/// A short name for a list of texts.
enum Fingerprint {
    static func of(_ parts: [String]) -> String {
        // With lengths in front, no two different lists run together into one text.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return String(SHA256Digest(of: text.utf8).description.prefix(24))
    }
}
