internal import ClusterState
internal import FetchQueue
internal import HTTPEngine

extension PageContent {
    /// What is told of a job's URL whose body is in its place.
    init(_ download: Download, of job: Job, file: String?) {
        self.init(url: job.url)
        digest = download.body.digest.bytes
        status = download.status
        size = Int(download.byteCount)
        fields[.file] = file
        fields[.contentType] = download.contentType
    }

    /// What is told of a job's URL that could not be fetched.
    init(_ error: FetchError, of job: Job) {
        self.init(url: job.url)
        if case .status(let code) = error.kind { status = code }
        fields = [.errorClass: error.className, .errorMessage: error.description]
    }
}

extension Retention {
    /// There are no rules of freshness yet, so an outcome is nobody's who asks after it: enqueued again, a URL is fetched again. It is
    /// there for the jobs that were enqueued before, which take their turn within this time.
    static let forThoseWhoWait = Retention(fresh: .zero, keep: .seconds(3600))
}
