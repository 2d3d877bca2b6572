internal import ClusterState
internal import GannetBasics

/// Saying what became of each URL.
extension BatchExport {
    /// Writes the manifest: a line for each URL, in the order in which the first of its jobs ended.
    package func writeManifest() async throws(OutputFailure) -> ExportTotals {
        let lines = try ExportLines(folder)
        var place = 0
        while place < walk.count {
            let ids = try await walk.ids(from: place)
            let first = place + 1
            try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in try lines.add(ids, from: first) }
            place += ids.count
        }
        try FinishedWalk.checkCancellation()
        return try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in try lines.finish() }
    }
}
