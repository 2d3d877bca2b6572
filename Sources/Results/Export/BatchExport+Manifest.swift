package import GannetQueue
package import Lists

/// The manifest of an export.
extension BatchExport {
    /// Writes the manifest: a line for each URL, in the order in which the first of its jobs ended. Where there is a list, the manifest has a line
    /// for each of its rows instead, in its order.
    /// - Parameters:
    ///   - rows: The next rows of the list that was enqueued; `nil` at its end.
    ///   - identify: Returns the id of a row's URL, or throws why the row is not a URL.
    package func writeManifest(
        of rows: (() async throws -> [Row]?)? = nil, identify: (@Sendable (ArraySlice<UInt8>) throws -> URLID)? = nil
    ) async throws -> (urls: ManifestTotals, list: ManifestTotals?) {
        let work = Manifest.Work.batch(isCancelled: batch.batch.cancelled > 0, isComplete: batch.batch.isComplete)
        let manifest = try Manifest(in: folder, of: work, packing: packing, identify: identify)
        var (place, counting) = (0, FinishedBatch.Counting())
        while place < batch.count {
            let part = try await batch.part(from: place)
            let ended = part.ids.enumerated().filter { counting.counts($1, in: part) }.map { (place: part.place + $0 + 1, id: $1) }
            try await manifest.add(ended: ended)
            place += part.jobs.count
        }
        if let rows { while let some = try await rows() { try await manifest.add(some) } }
        try FinishedBatch.checkCancellation()
        let totals = try await manifest.finish()
        return (manifest.ended, rows == nil ? nil : totals)
    }
}
