/// How a list is written down.
package enum ListFormat: String, Sendable, CaseIterable {
    /// One URL a line; `#` begins a comment.
    case text
    /// Cells with commas (or semicolons) between them, under a header.
    case csv
    /// The same with tabs.
    case tsv
    /// One JSON object a line.
    case jsonl
    case sitemap
}
