internal import ClusterState
internal import HTTPEngine

/// A body that is to be taken to the folder of an export, as its page tells of it.
struct WantedBody: Sendable {
    let id: URLID
    let content: PageContent
    let digest: [UInt8]
    /// What its fetch took.
    let duration: Duration

    /// What the folder's record says of it when it is there.
    func record(file: String) -> JobRecord {
        var content = content
        content.fields[.file] = file
        return JobRecord(exported: id, JobEnd(.fetched, content, duration: duration))
    }
}
