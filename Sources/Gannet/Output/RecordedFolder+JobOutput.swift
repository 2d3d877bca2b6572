package import ClusterState
package import HTTPEngine

extension RecordedFolder: JobOutput {
    package var bodyDestination: BodyDestination { folder.bodyDestination }

    /// What this run has fetched already, should the job come back because Redis did not hear of it.
    package func found(_ job: Job) throws(OutputFailure) -> HeldBody? { try body(job.id) }

    package func held(_ page: Page, for job: Job) throws(OutputFailure) -> HeldBody? { try body(job.id) }

    package func place(_ download: Download, of job: Job) throws(OutputFailure) -> Placement { try folder.place(download, of: job) }

    package func note(_ end: JobEnd, of job: Job) throws(OutputFailure) {
        // Of one that is there already there is a record.
        guard end.outcome == .fetched || end.outcome == .failed else { return }
        if try journal.append(JobRecord(job.id, end)) { noteEnd() }
    }

    /// A file that this run has written, or looked at and found to do.
    private func body(_ id: URLID) throws(OutputFailure) -> HeldBody? {
        guard let entry = journal[id], entry.offset > 0, !entry.marks.contains(.failed),
            entry.marks.contains(.current) || entry.marks.contains(.sound) && !entry.marks.contains(.queued)
        else { return nil }
        var reader = journal.reader()
        return try reader.record(at: entry.offset).map { HeldBody(file: $0.file) }
    }
}
