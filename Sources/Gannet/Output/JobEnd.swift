package import ClusterState

/// How a job ends that this worker has had a part in.
package struct JobEnd: Sendable {
    package enum Outcome: Sendable {
        /// Its body was fetched and is in its place.
        case fetched
        /// Its origin says that what is in its place is right.
        case revalidated
        /// It was fetched for another job, and its body is in its place.
        case cached
        /// Given up.
        case failed
    }

    package let outcome: Outcome
    /// What is told of the URL: status, size, digest, the file, or the error.
    package let content: PageContent
    /// What its last attempt took; zero where there was none for this job.
    package let duration: Duration

    package init(_ outcome: Outcome, _ content: PageContent, duration: Duration = .zero) {
        self.outcome = outcome
        self.content = content
        self.duration = duration
    }
}
