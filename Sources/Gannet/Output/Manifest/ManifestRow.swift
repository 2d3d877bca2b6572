/// A row of a run's input, as it is read for the second time, or a URL of a batch.
package struct ManifestRow: Sendable {
    package enum Content: Sendable {
        case url(ArraySlice<UInt8>)
        /// One that nobody knows any more.
        case unknown
        /// Not even a text that might be one, and why.
        case invalid(String)
    }

    package enum Place: Sendable {
        /// Of the input's file, from 1.
        case line(Int)
        /// Of the command line, from 1.
        case argument(Int)
        /// Among the ends of a batch's jobs, from 1: what its input was, nobody knows any more.
        case finished(Int)
    }

    package let place: Place
    package let content: Content
    /// What the input calls the row.
    package let id: ArraySlice<UInt8>?

    package init(_ place: Place, _ content: Content, id: ArraySlice<UInt8>? = nil) {
        self.place = place
        self.content = content
        self.id = id
    }
}
