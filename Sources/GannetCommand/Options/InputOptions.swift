import GannetBase
import GannetHTTP
import Lists
import Results

/// The URLs of `run` and `enqueue`: the ones on the command line first, then the file's.
struct InputOptions: Sendable {
    enum Source: Sendable, Equatable {
        case standardInput
        case file(String)

        init(_ path: String) { self = path == "-" ? .standardInput : .file(path) }
    }

    var urls: [String]
    var source: Source?
    /// How to read the file.
    var list: ListOptions

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
    static let flags = [input.entry] + listFlags

    /// - Parameter rest: The required options of the command, for the command line that an error shows.
    init(_ arguments: Arguments, rest: String = "", verify: VerifyOption? = nil) throws {
        urls = arguments.positionals
        source = try arguments.optional(Self.input).map { Source($0) }
        list = try Self.list(arguments)
        if let verify { list.carried = verify.added(to: list.carried) }
        if source == nil { try Self.refuseListFlags(arguments) }
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

extension InputOptions {
    private static let format = Flag(
        "format", .choice("format", of: ListFormat.allCases),
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
    static let carry = Flag(
        "carry", .text("columns"), isRepeatable: true,
        "Columns of the input, or fields of JSON lines, with commas between their names. The manifest repeats their values for each row, as an "
            + "object under 'carried'. A row whose values take more than 8 KB is invalid. This option can be repeated.")
    private static let mostCarried = 100

    /// How to read an input file, where its first bytes do not tell everything.
    static let listFlags = [format.entry, column.entry, field.entry, idColumn.entry]

    static func list(_ arguments: Arguments) throws -> ListOptions {
        var options = ListOptions()
        options.format = try arguments.optional(format)
        options.column = try arguments.optional(column)
        options.field = try arguments.optional(field)
        options.idColumn = try arguments.optional(idColumn)
        options.carried = try carried(arguments)
        return options
    }

    /// Without an input file: on the command line itself. The environment's variables are there for other commands too.
    static func refuseListFlags(_ arguments: Arguments) throws {
        let flags = listFlags + [carry.entry, VerifyOption.flag.entry]
        guard let flag = flags.first(where: { arguments.origin(of: $0) == .option }) else { return }
        throw arguments.usageError(
            "'--\(flag.name)' says how to read an input file, but no input file is named: name it with '-i <file>'.")
    }

    private static func carried(_ arguments: Arguments) throws -> [CarriedColumn] {
        let names = try arguments.all(carry).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        guard !names.contains("") else { throw arguments.usageError("'--carry' has an empty name between its commas.") }
        guard names.count <= mostCarried else {
            throw arguments.usageError("'--carry' names \(names.count) columns; there may be \(mostCarried).")
        }
        var seen: Set<String> = []
        if let twice = names.first(where: { !seen.insert($0).inserted }) {
            throw arguments.usageError("'--carry' names \(Sentence.quoted(twice)) twice.")
        }
        return names.map { CarriedColumn($0) }
    }
}

/// `--verify`: the digests that bodies must have, from a column of the list.
struct VerifyOption: Sendable {
    let algorithm: ExpectedDigests.Algorithm
    /// The column of a table, or the field of JSON lines. The manifest repeats it.
    let column: String

    static let flag = Flag(
        "verify", .text("digest:column"),
        "Store only bodies with the digest that the row has in a column: 'sha256:COLUMN' or 'md5:COLUMN', in hexadecimal digits. A row with another "
            + "body fails as digest-mismatch. A row with nothing there is not checked. The manifest repeats the column, as '--carry' does.")

    init?(_ arguments: Arguments) throws {
        guard let text = try arguments.optional(Self.flag) else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let algorithm = ExpectedDigests.Algorithm(rawValue: String(parts[0])), !parts[1].isEmpty else {
            throw arguments.usageError("'--verify \(text)' is neither 'sha256:COLUMN' nor 'md5:COLUMN'.")
        }
        self.algorithm = algorithm
        column = String(parts[1])
    }

    /// The columns with this one as the last.
    func added(to columns: [CarriedColumn]) -> [CarriedColumn] { columns.filter { $0.name != column } + [CarriedColumn(column)] }

    /// The digest in a row's carried values, of which it is the last. Nil where there is nothing; empty where there is something else.
    func digest(in row: Row) -> [UInt8]? {
        row.carried?.withUnsafeBytes { carried in
            guard let place = JSONText.values(ofObject: carried).last else { return nil }
            let value = carried[place]
            if value.elementsEqual("null".utf8) || value.elementsEqual("\"\"".utf8) { return nil }
            guard value.first == UInt8(ascii: "\""), value.count > 2 else { return [] }
            // Tables have blanks around their cells.
            var text = value.dropFirst().dropLast().drop { $0 == UInt8(ascii: " ") }
            while text.last == UInt8(ascii: " ") { text = text.dropLast() }
            if text.isEmpty { return nil }
            guard text.count == algorithm.digits else { return [] }
            let digits = text.map { UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0 ? $0 | 0x20 : $0 }
            return [UInt8](hexadecimal: digits) ?? []
        }
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
