internal import ClusterState

/// What a folder's journal says of a URL: how it ended when it was last tried.
struct JobRecord: Sendable, Equatable {
    let id: URLID
    var isFailed = false
    var status = 0
    var bytes = 0
    var digest: [UInt8]?
    var milliseconds = 0
    /// The body's path within the folder.
    var file = ""
    var contentType = ""
    var errorClass = ""
    var errorMessage = ""
    /// Without credentials; known where the folder has its URLs from a batch, and not from a list that can be read again.
    var url = ""

    init(_ id: URLID) { self.id = id }

    init(_ id: URLID, _ end: JobEnd) {
        self.id = id
        let content = end.content
        isFailed = end.outcome == .failed
        status = content.status
        bytes = content.size
        digest = content.digest
        milliseconds = Int(end.duration / .milliseconds(1))
        file = content.fields[.file] ?? ""
        contentType = content.fields[.contentType] ?? ""
        errorClass = content.fields[.errorClass] ?? ""
        errorMessage = content.fields[.errorMessage] ?? ""
    }
}
