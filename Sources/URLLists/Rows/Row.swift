/// One entry of a list: a URL as it stands there, or why there is none. Whether it is one that can be fetched is for others to say.
package struct Row: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case url(ArraySlice<UInt8>)
        case invalid(RowProblem)
    }

    /// The line on which it begins, from 1. Blank lines, comments and headers count.
    package let number: Int
    package let content: Content

    /// What the list calls the entry (`ListOptions.idColumn`), at most ``longestID`` bytes; they need not be UTF-8.
    package let id: ArraySlice<UInt8>?

    package static let longestID = 1024

    package init(number: Int, content: Content, id: ArraySlice<UInt8>? = nil) {
        self.number = number
        self.content = content
        self.id = id
    }
}
