internal import GannetHTTP
internal import GannetQueue

extension OutcomeContent {
    /// The outcome of a job's URL whose body is in its place.
    init(_ download: Download, _ digest: SHA256Digest, of job: Job, file: String?) {
        self.init(url: job.url)
        self.digest = digest.bytes
        status = download.status
        size = Int(download.byteCount)
        phases = download.phases
        fields[.file] = file
        fields[.contentType] = download.contentType
    }
}
