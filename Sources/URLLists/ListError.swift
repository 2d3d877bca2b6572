/// Why a list cannot be read, or not any further.
package enum ListError: Error, Sendable, Equatable {
    /// None of the columns is the one that was asked for, or has a usual name.
    case noSuchColumn(String?, columns: [String])
    case badHeader(RowProblem)
    case tooManyColumns(limit: Int)
    /// An option that means nothing for a list of this kind.
    case optionDoesNotApply(Option, ListFormat)
    /// By its first bytes it is something else: what it is, with its article.
    case other(String)
    case jsonArray
    /// XML, but of another kind; at most the beginning of its root's name.
    case otherDocument(root: String)
    case ownEntities(line: Int)
    case badXML(line: Int)
    /// The XML's elements are not all closed.
    case endsEarly(line: Int)
    case badCompression(String)
    case truncatedCompression
    case outOfMemory

    package enum Option: String, Sendable {
        case column
        case idColumn = "id-column"
        case field
    }
}
