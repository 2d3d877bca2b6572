import CommandLineKit
import URLLists

extension ListError {
    /// The end of a sentence that says what cannot be read.
    var reason: String {
        switch self {
        case .noSuchColumn(let name?, let columns):
            "it has no column \(Sentence.quoted(name)); \(Self.list(columns))."
        case .noSuchColumn(nil, let columns):
            "none of its columns has a usual name for URLs, such as 'url' or 'link'; name one with '--column': \(Self.list(columns)). "
                + "If it is a list with one URL a line, say '--format text'."
        case .badHeader(let problem): "the header cannot be read: \(problem)."
        case .tooManyColumns(let limit): "it has more than \(limit) columns."
        case .optionDoesNotApply(let option, let format):
            "'--\(option.rawValue)' means nothing here, since the input is \(format.name); '--format' says that it is something else."
        case .other(let what): "it is \(what)."
        case .jsonArray: "it is a JSON array; what can be read is one object a line, as 'jq -c .[]' makes of it."
        case .otherDocument(let root): "it is XML that begins with <\(Sentence.quoted(root).dropFirst().dropLast())>, not a sitemap."
        case .ownEntities(let line): "line \(line) declares entities of its own, which are not read."
        case .badXML(let line): "line \(line) is not well-formed XML."
        case .endsEarly(let line): "it ends in the middle of the sitemap, in line \(line)."
        case .badCompression(let detail): "its gzip compression is damaged (\(detail))."
        case .truncatedCompression: "its gzip compression ends in the middle: part of it is missing."
        case .outOfMemory: "there is no memory to unpack it."
        }
    }

    private static func list(_ columns: [String]) -> String {
        let shown = columns.prefix(30).map { Sentence.quoted($0, limit: 60) }.joined(separator: ", ")
        return "its columns are \(shown)\(columns.count > 30 ? " and \(columns.count - 30) more" : "")"
    }
}

extension ListFormat {
    fileprivate var name: String {
        switch self {
        case .text: "text with one URL a line"
        case .csv, .tsv: "a table"
        case .jsonl: "JSON lines"
        case .sitemap: "a sitemap"
        }
    }
}
