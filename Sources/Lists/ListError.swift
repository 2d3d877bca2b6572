/// The reason why a list cannot be read to its end.
package enum ListError: Error, Sendable, Equatable {
    /// No column has the name that was asked for, or a usual one.
    case noSuchColumn(String?, columns: [String])
    case badHeader(RowProblem)
    case tooManyColumns(limit: Int)
    /// An option that means nothing for a list of this kind.
    case optionDoesNotApply(Option, ListFormat)
    /// The first bytes are those of something else, which is named with its article.
    case other(String)
    case jsonArray
    /// XML, but of another kind; at most the beginning of its root's name.
    case otherDocument(root: String)
    case ownEntities(line: Int)
    case badXML(line: Int)
    /// The XML's elements are not all closed.
    case endsEarly(line: Int)
    case badCompression(String)
    /// A packed list, where only plain ones are read.
    case packed
    case truncatedCompression
    case outOfMemory

    static let webPage = ListError.other("a web page, and not a list of URLs")

    package enum Option: String, Sendable {
        case column
        case idColumn = "id-column"
        case field
        case carry
    }
}

/// The reason why a row has no URL.
package enum RowProblem: Sendable, Hashable, CustomStringConvertible {
    case tooLong(limit: Int)
    case nul
    /// A row of a table that is too short for the column.
    case noColumn
    case badQuoting
    /// A quote that is not closed before the table ends, or a row is too long.
    case unclosedQuote
    /// Not JSON, from this byte of the line on; the first is 1.
    case badJSON(at: Int)
    case notAnObject
    case noField
    case notText
    case empty
    case unknownEntity
    case idTooLong(limit: Int)
    case carriedTooLong(limit: Int)

    package var description: String {
        switch self {
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        case .nul: "it contains a NUL byte"
        case .noColumn: "the row ends before the column of the URL"
        case .badQuoting: "there is text behind a closing quote"
        case .unclosedQuote: "a quote is not closed"
        case .badJSON(let position): "it is not JSON from byte \(position) on"
        case .notAnObject: "it is not a JSON object"
        case .noField: "the object has no such field"
        case .notText: "the field is not a string"
        case .empty: "the URL is empty"
        case .unknownEntity: "it has an '&' that begins none of XML's own entities"
        case .idTooLong(let limit): "its id is longer than \(limit) bytes"
        case .carriedTooLong(let limit): "the values that it carries are longer than \(limit) bytes"
        }
    }
}
