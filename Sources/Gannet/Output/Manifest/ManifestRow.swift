/// A row of a run's input, as it is read for the second time.
package struct ManifestRow: Sendable {
    package enum Content: Sendable {
        case url(ArraySlice<UInt8>)
        /// Not even a text that might be one, and why.
        case invalid(String)
    }

    package let place: EnqueueSummary.Place
    package let content: Content
    /// What the input calls the row.
    package let id: ArraySlice<UInt8>?

    package init(_ place: EnqueueSummary.Place, _ content: Content, id: ArraySlice<UInt8>? = nil) {
        self.place = place
        self.content = content
        self.id = id
    }
}
