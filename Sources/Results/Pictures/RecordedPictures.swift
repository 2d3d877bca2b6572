internal import GannetBase
package import GannetHTTP
package import GannetPictures
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

extension RecordedPictures: OutputAround {
    package var output: any JobOutput { folder }

    /// Enough for the makers of pictures to find the next one. A kill costs no more requests than these.
    package var mostWaiting: Int? { 64 }

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

/// A picture that a run made of a body, and stored in its place.
package struct StoredPicture: Sendable, Equatable {
    package let format: ThumbnailFormat
    package let size: PictureSize
    /// Of the picture that was fetched.
    package let original: PictureSize
    /// Of the file.
    package let bytes: Int
    package let digest: [UInt8]

    init(_ made: Thumbnail, digest: [UInt8]) {
        (format, size, original) = (made.format, made.size, made.original)
        bytes = made.bytes.count
        self.digest = digest
    }

    /// In a journal: `jpeg 256 192 400 300 9120 3fa9…`.
    var text: String {
        "\(format) \(size.width) \(size.height) \(original.width) \(original.height) \(bytes) \(digest.hexadecimal)"
    }

    /// Nil for text that is not of this form.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 7, let format = ThumbnailFormat.allCases.first(where: { "\($0)" == words[0] }) else { return nil }
        let numbers = words[1...5].compactMap { Int($0) }
        guard numbers.count == 5, numbers.allSatisfy({ 1..<1 << 31 ~= $0 }), words[6].utf8.count == 64,
            let digest = [UInt8](hexadecimal: Array(words[6].utf8))
        else { return nil }
        self.format = format
        size = PictureSize(numbers[0], numbers[1])
        original = PictureSize(numbers[2], numbers[3])
        bytes = numbers[4]
        self.digest = digest
    }
}

extension ThumbnailFormat {
    /// The ending of a file's name.
    package var ending: String {
        switch self {
        case .jpeg, .plain: "jpg"
        case .png: "png"
        case .webp: "webp"
        case .avif: "avif"
        }
    }
}
