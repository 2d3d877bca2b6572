package import ClusterState
package import HTTPEngine

extension BodyFolder: JobOutput {
    package var bodyDestination: BodyDestination { .file(in: path) }

    /// Which files are finished the folder alone does not tell: who wants to know keeps a record of them.
    package func found(_ job: Job) -> HeldBody? { nil }

    package func held(_ page: Page, for job: Job) -> HeldBody? {
        file(of: page.content.url, id: job.id, size: page.content.size).map { HeldBody(file: $0) }
    }

    package func place(_ download: Download, of job: Job) throws(OutputFailure) -> Placement {
        guard case .file(let temporaryFile, _) = download.body else { fatalError("A downloader put a body elsewhere than it was told.") }
        return .held(HeldBody(file: try place(temporaryFile, of: job.url, id: job.id)))
    }

    package func note(_ end: JobEnd, of job: Job) {}
}
