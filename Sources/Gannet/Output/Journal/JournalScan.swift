/// A journal as it is found: the latest record of each URL, and where the last whole line ends.
struct JournalScan {
    let file: JournalFile
    let table: URLTable
    let end: Int
    let lines: Int

    init(of file: JournalFile, in folder: String) throws(OutputFailure) {
        let size = try file.size
        // A record has some 200 bytes; one too small a guess costs little.
        let table = try URLTable(in: folder, expecting: size / 200)
        var cursor = JournalCursor(file, from: JournalFile.heading.count, to: size)
        var lines = 0
        var failure: OutputFailure?
        while try cursor.next({ offset, line in
            lines += 1
            guard let (id, isFailed) = JobRecord.key(of: line) else { return }
            do throws(OutputFailure) {
                try table.update(id) { $0 = URLTable.Entry(offset: offset, marks: isFailed ? .failed : []) }
            } catch {
                failure = error
            }
        }) {
            if let failure { throw failure }
        }
        self.file = file
        self.table = table
        self.lines = lines
        end = cursor.offset
    }

    /// Makes a journal of the latest records alone.
    func rewrite(as path: String, inPlaceOf old: String) throws(OutputFailure) {
        let new = try JournalFile(path, isNew: true)
        var cursor = JournalCursor(file, from: JournalFile.heading.count, to: end)
        var written = JournalFile.heading.count
        var batch: [UInt8] = []
        var hasMore = true
        while hasMore {
            hasMore = try cursor.next { offset, line in
                guard let (id, _) = JobRecord.key(of: line), table[id]?.offset == offset else { return }
                batch += line
                batch.append(UInt8(ascii: "\n"))
            }
            if batch.count >= Self.batchBytes || !hasMore {
                try new.write(batch, at: written)
                written += batch.count
                batch.removeAll(keepingCapacity: true)
            }
        }
        try new.replace(old)
    }

    private static let batchBytes = 1 << 20
}
