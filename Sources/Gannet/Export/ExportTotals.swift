/// What the URLs of a batch came to in the folder they were exported to: each is one of the first three.
package struct ExportTotals: Sendable, Equatable {
    /// Their bodies were brought there by this export.
    package var written = 0
    /// There already.
    package var there = 0
    /// Without a body, whatever the reason.
    package var failed = 0

    /// Of the failed ones: fetched, and their bodies are not kept any more.
    package var evicted = 0
    /// Of the failed ones: fetched, and their bodies are in the folder of a worker.
    package var elsewhere = 0
    /// Of the failed ones: nothing is known of them any more.
    package var forgotten = 0
    /// Ends of jobs beyond the first of their URL.
    package var repeated = 0
    /// Of the bodies that were brought.
    package var bytes = 0

    package var rows: Int { written + there + failed }

    package init() {}
}
