import CommandLineKit
import URLLists

/// How an input file is to be read, where its first bytes do not tell, or not all.
enum ListFlags {
    private static let format = Flag(
        "format", .choice("format", of: ListFormat.allCases.map(\.rawValue)),
        "What the input is: text (a URL a line), csv, tsv, jsonl (a JSON object a line) or sitemap. Without it its first bytes tell.")
    private static let column = Flag(
        "column", .text("name"), "The column of a CSV or TSV that holds the URLs. Without it one with a usual name: url, image_url, link …")
    private static let field = Flag(
        "field", .text("path"), "The field of JSON lines that holds the URLs, such as 'image.url'. Without it 'url'.")
    private static let idColumn = Flag(
        "id-column", .text("name"), "The column, or the field of JSON lines, that holds ids of yours; the results repeat them.")

    static let flags = [format.entry, column.entry, field.entry, idColumn.entry]

    static func options(from arguments: Arguments) throws(UsageError) -> ListOptions {
        var options = ListOptions()
        options.format = try arguments.optional(format).flatMap(ListFormat.init)
        options.column = try arguments.optional(column)
        options.field = try arguments.optional(field)
        options.idColumn = try arguments.optional(idColumn)
        return options
    }

    /// On the command line itself: what is set in the environment is there for other commands too.
    static func firstGiven(in arguments: Arguments) -> FlagEntry? {
        flags.first { arguments.origin(of: $0) == .option }
    }
}
