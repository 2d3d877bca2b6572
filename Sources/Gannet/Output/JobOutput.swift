package import ClusterState
package import HTTPEngine

/// Where the bodies of jobs end up, and where it is noted how jobs end.
///
/// A worker asks in this order: for a job with a page (its URL was fetched for another) whether that body is ``held(_:for:)``; for any other
/// whether there is something to be ``found(_:)``, and if not it fetches, and has the body taken to its ``place(_:of:)``. The end of each such
/// job is ``note(_:of:)``d before Redis is told of it, so that what Redis believes to be done is never unknown here. What is thrown stops the
/// worker, and the job is handed back.
package protocol JobOutput: Sendable {
    /// How the engine is to hand bodies over.
    var bodyDestination: BodyDestination { get }

    /// The body that is there for a job before anything was asked of its origin; `nil` where it has to be fetched.
    func found(_ job: Job) async throws(OutputFailure) -> HeldBody?

    /// The body of a page, when it is where this job's should be; `nil` where it has to be fetched again.
    func held(_ page: Page, for job: Job) async throws(OutputFailure) -> HeldBody?

    /// Takes a body to its place. A temporary file is this one's to move or remove, whatever comes of it.
    func place(_ download: Download, of job: Job) async throws(OutputFailure) -> Placement

    /// Takes note of how a job ends. Told more than once of a job that comes back, since Redis did not hear of its end.
    func note(_ end: JobEnd, of job: Job) async throws(OutputFailure)
}

/// What became of a body that was to be taken to its place.
package enum Placement: Sendable {
    case held(HeldBody)
    /// There can be no place for this one, as for one that is too large; for others there is.
    case refused(FetchError)
}

/// A body that is in its place.
package struct HeldBody: Sendable, Equatable {
    /// Its path within the folder; `nil` where bodies are no files.
    package let file: String?

    package init(file: String?) { self.file = file }
}
