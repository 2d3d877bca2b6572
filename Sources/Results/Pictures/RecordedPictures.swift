internal import GannetBase
package import GannetHTTP
internal import GannetPictures
package import GannetQueue

/// A folder of pictures, each made of a fetched original, with the record of earlier runs.
///
/// The record has two digests. That of the original identifies the fetched body. The next run checks the file by the other one. An original that
/// makes no picture ends its row with a reason. Redis hears that the URL was fetched, because other queues may want the same body.
package final class RecordedPictures: Sendable {
    private let folder: RecordedFolder
    private let maker: PictureMaker

    package init(_ folder: RecordedFolder, _ maker: PictureMaker) {
        self.folder = folder
        self.maker = maker
    }
}

extension RecordedPictures: JobOutput {
    /// Enough for the makers of pictures to find the next one. A kill costs no more requests than these.
    package var mostWaiting: Int? { 64 }

    package var bodyDestination: BodyDestination { folder.bodyDestination }

    package func found(_ job: Job) throws -> HeldBody? { try folder.found(job) }

    package func held(_ outcome: URLOutcome, for job: Job) throws -> HeldBody? { try folder.held(outcome, for: job) }

    package func earlier(_ job: Job) throws -> JobRecord? { try folder.earlier(job) }

    package func place(_ download: Download, digest: SHA256Digest, of job: Job) async throws -> Placement {
        defer { download.body.discard() }
        switch await maker.picture(of: download) {
        case .success(let made):
            return try Placement(of: job) {
                let bodies = folder.folder
                let name = bodies.name(of: job.url, id: job.id, ending: made.format.ending)
                let file = try bodies.place(bodies.newFile(of: made.bytes), as: name)
                return HeldBody(file: file, picture: StoredPicture(made, digest: SHA256Digest(of: made.bytes).bytes))
            }
        case .failure(let failure):
            if failure.kind == .cancelled { throw CancellationError() }
            // The next picture would end the same way.
            guard failure.kind.isOfPicture else { throw StorageFailure(failure.sentence) }
            return .unfit(errorClass: failure.kind.rawValue, sentence: failure.sentence)
        }
    }

    package func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) throws {
        guard end.isFailed, ThumbnailFailure.Kind(rawValue: end.errorClass)?.isFinal == true else {
            return try folder.note(end, wire, of: job)
        }
        var record = end
        // The next run does not ask for the same bytes again.
        record.isFailed = false
        try folder.append(record)
    }
}

extension PictureMaker {
    /// The picture of a body. Every output that stores pictures in the place of bodies takes this step.
    package func picture(of download: Download) async -> Result<Thumbnail, ThumbnailFailure> {
        let (body, count) = (download.body, Int(download.byteCount))
        return await picture(ofBytes: count) { () throws(ThumbnailFailure) -> [UInt8] in try body.contents(count) }
    }
}

extension DownloadedBody {
    fileprivate func contents(_ count: Int) throws(ThumbnailFailure) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .file(let path, _):
            guard let bytes = Descriptor.contents(ofFile: path, count: count) else {
                let reason = Descriptor.message(errno)
                throw ThumbnailFailure(.busy, "The file \(path.escapedForDisplay) of a body cannot be read: \(reason).")
            }
            return bytes
        }
    }
}
