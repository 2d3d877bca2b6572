/// The records whose files are to be looked at, in the order in which they were written.
struct CheckWalk {
    private let journal: Journal
    private var cursor: JournalCursor
    private var hasEnded = false

    init(of journal: Journal) {
        self.journal = journal
        cursor = journal.earlierRecords()
    }

    /// The next ones; none at the end.
    mutating func next(_ most: Int) throws(OutputFailure) -> [JobRecord] {
        var records: [JobRecord] = []
        while records.count < most, !hasEnded {
            let isMore = try cursor.next { offset, line in
                guard let (id, isFailed) = JobRecord.key(of: line), !isFailed, let entry = journal[id], entry.offset == offset,
                    entry.marks.contains(.listed), !entry.marks.contains(.queued), let record = JobRecord(line: line)
                else { return }
                records.append(record)
            }
            hasEnded = hasEnded || !isMore
        }
        return records
    }

    mutating func end() { hasEnded = true }
}
