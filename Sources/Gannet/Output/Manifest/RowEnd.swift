/// What became of a row.
struct RowEnd {
    enum Outcome {
        case fetched
        /// An earlier run has brought it.
        case there
        /// An earlier row has the same URL.
        case repeated
        case failed
        case invalid
    }

    let outcome: Outcome
    /// Of a URL that failed without one, no worker has told the end.
    let record: JobRecord?
    /// Why a row is invalid, where the row itself does not say it.
    let message: String?

    /// Of a row that failed.
    var errorClass: String { record?.errorClass ?? "abandoned" }

    init(_ outcome: Outcome, _ record: JobRecord? = nil, message: String? = nil) {
        self.outcome = outcome
        self.record = record
        self.message = message
    }
}
