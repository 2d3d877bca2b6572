internal import ClusterState
internal import HTTPEngine

extension OutcomeContent {
    /// The outcome of a job's URL whose body is in its place.
    init(_ download: Download, of job: Job, file: String?) {
        self.init(url: job.url)
        digest = download.body.digest.bytes
        status = download.status
        size = Int(download.byteCount)
        fields[.file] = file
        fields[.contentType] = download.contentType
    }

    /// The outcome of a job's URL that could not be fetched.
    init(_ error: FetchError, of job: Job) {
        self.init(url: job.url)
        if case .status(let code) = error.kind { status = code }
        fields = [.errorClass: error.className, .errorMessage: error.description]
    }
}
