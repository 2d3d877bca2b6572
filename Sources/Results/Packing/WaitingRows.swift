internal import GannetBase
package import GannetQueue
package import Lists

/// The rows of the URLs that a run has queued. Samples have their numbers, ids and carried values. The URL itself comes with the job.
///
/// A row is forgotten when its job ends. Some jobs end without a word to the run, such as those of a host that is given up. So rows are in two parts:
/// when one is full, the older part is dropped. A body without its row stays a file, and is packed with the manifest.
package final class WaitingRows: Sendable {
    private struct Kept {
        let place: Row.Place
        let id: [UInt8]?
        let carried: [UInt8]?

        /// An entry of the table takes 48 bytes, and up to half of the table is free. A text has a head of 32 bytes.
        var bytes: Int { 100 + [id, carried].reduce(0) { $0 + ($1.map { $0.count + 48 } ?? 0) } }
    }

    private struct Part {
        var rows: [URLID: Kept] = [:]
        var bytes = 0

        mutating func take(_ id: URLID) -> Kept? {
            guard let kept = rows.removeValue(forKey: id) else { return nil }
            bytes -= kept.bytes
            return kept
        }
    }

    private struct State {
        var newer = Part()
        var older = Part()
        /// Of all rows so far.
        var count = 0
        var bytes = 0
    }

    private let mostBytes: Int
    private let state = Mutex(State())

    /// - Parameter mostBytes: The memory of one part. A plain list has 670,000 rows in 64 MiB, and one with captions of 100 bytes 270,000.
    package init(mostBytes: Int = 64 << 20) { self.mostBytes = mostBytes }

    /// How many jobs may wait at once, so that one part has room for the rows of all of them.
    package var mostJobs: Int { state.withLock { $0.count == 0 ? .max : mostBytes / ($0.bytes / $0.count) } }

    /// Keeps a row whose job is about to be queued.
    package func keep(_ row: Row, of id: URLID) {
        // Slices would hold whole batches of the list.
        let kept = Kept(place: row.place, id: row.id.map { Array($0) }, carried: row.carried.map { Array($0) })
        state.withLock { state in
            _ = state.newer.take(id)
            if state.newer.bytes + kept.bytes > mostBytes {
                state.older = state.newer
                state.newer = Part()
            }
            state.newer.rows[id] = kept
            state.newer.bytes += kept.bytes
            state.count += 1
            state.bytes += kept.bytes
        }
    }

    /// The row of a job that has ended. It is forgotten here.
    func take(_ job: Job) -> Row? {
        let kept = state.withLock { $0.newer.take(job.id) ?? $0.older.take(job.id) }
        return kept.map { Row($0.place, .url(Array(job.url.utf8)[...]), id: $0.id?[...], carried: $0.carried?[...]) }
    }
}
