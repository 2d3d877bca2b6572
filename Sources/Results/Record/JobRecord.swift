internal import GannetBase
internal import GannetHTTP
internal import GannetPictures
package import GannetQueue

/// How a URL ended when it was last fetched, as a folder's journal records it.
package struct JobRecord: Sendable, Equatable {
    package let id: URLID
    package var isFailed = false
    package var status = 0
    package var bytes = 0
    var digest: [UInt8]?
    package var milliseconds = 0
    /// The body's path within the folder, or its place in an archive (``ArchivePlace``) or a shard (``SamplePlace``).
    package var file = ""
    var contentType = ""
    var errorClass = ""
    /// Of a body that was stored, it is the reservation that the answer made of its use.
    var errorMessage = ""
    /// The picture in the file, where that is not the body itself.
    package var picture: StoredPicture?
    /// The URL without credentials. Only an export records it, because the list of a run can be read again.
    var url = ""
    /// The answer's own words about itself and its age.
    var answer = AnswerFacts()
    /// When the origin said last that the body has not changed, in ms since 1970; 0 where it was not asked again.
    var checkedAt = 0
    /// The digest of the body that an earlier run has fetched last; nil where there was none.
    var lastDigest: [UInt8]?
    /// Why the body could not be asked for again, where it has stayed since an earlier run.
    var staleness: Staleness?

    package init(_ id: URLID) { self.id = id }

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
        picture = end.picture
        answer = end.answer
        errorMessage = isFailed ? content.failureSentence : content.fields[.optOut] ?? ""
    }
}

extension JobRecord {
    /// The failure of a body's last check.
    struct Staleness: Sendable, Equatable {
        let errorClass: String
        let message: String
    }

    /// Whether the body was fetched and is not stored, because its picture is outside the run's bounds. The next run need not fetch it again.
    var isUnfit: Bool { !isFailed && !errorClass.isEmpty }

    /// The content of the file: the body, or the picture that was made of it.
    var stored: (bytes: Int, digest: [UInt8]?, contentType: String) {
        picture.map { ($0.bytes, $0.digest, $0.format.mediaType) } ?? (bytes, digest, contentType)
    }

    /// The outcome that this record was made of.
    func content(of url: String) -> OutcomeContent {
        var content = OutcomeContent(url: url)
        (content.digest, content.status, content.size) = (digest, status, bytes)
        for (field, text) in [(OutcomeContent.Field.file, file), (.contentType, contentType), (.optOut, errorMessage)] where !text.isEmpty {
            content.fields[field] = text
        }
        return content
    }

    /// When the body was known to be that of its origin, in ms since 1970; 0 where nothing says so.
    var knownAt: Int { max(answer.fetchedAt, checkedAt) }
}
