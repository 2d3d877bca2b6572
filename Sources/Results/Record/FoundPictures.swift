internal import GannetBase
package import GannetQueue

/// The pictures that a run found in its folder, and the bodies of all that the folder records.
///
/// No job stands for a file that is there already, so the run itself notes such a picture while it reads its list.
package final class FoundPictures: Sendable {
    private struct State {
        var folder: RecordedFolder?
        var pictures: [FoundPicture] = []
        var isCut = false
    }

    private let state = Mutex(State())
    /// The most pictures. Each takes some 300 bytes.
    private let most: Int

    package init(most: Int = 200_000) { self.most = most }

    /// Begins with a folder, whose record has been read.
    package func begin(with folder: RecordedFolder) {
        state.withLock { $0 = State(folder: folder) }
    }

    /// Notes a listed URL whose file is there already. Files that are no pictures are left out.
    package func note(_ id: URLID, _ url: String) throws {
        try state.withLock { state in
            guard let folder = state.folder, !state.isCut, let record = try folder.journal.record(of: id), !record.isFailed,
                !record.isUnfit, let digest = record.stored.digest, let type = Self.pictureType(record.stored.contentType)
            else { return }
            guard state.pictures.count < most else {
                state.isCut = true
                return
            }
            let path = "\(folder.folder.path)/\(record.file)"
            state.pictures.append(
                FoundPicture(
                    id: id, url: url, bytes: record.stored.bytes, type: type, digest: digest,
                    httpStatus: record.status == 0 ? nil : record.status,
                    writtenMilliseconds: Self.modification(of: path)))
        }
    }

    /// Pictures in the order of the list, and whether there were more than the bound.
    package func pictures(from start: Int, atMost count: Int) -> (pictures: [FoundPicture], isMore: Bool, isCut: Bool) {
        state.withLock { state in
            let found = state.pictures.dropFirst(start).prefix(count)
            return (Array(found), found.endIndex < state.pictures.endIndex, state.isCut)
        }
    }

    /// The latest body that the folder records for a URL, as an outcome would describe it, and the folder; `nil` where it has none.
    package func body(of id: URLID) throws -> (content: OutcomeContent, folder: BodyFolder)? {
        let folder = state.withLock { $0.folder }
        guard let folder, let record = try folder.journal.record(of: id), !record.isFailed, !record.isUnfit else { return nil }
        let stored = record.stored
        guard stored.digest != nil else { return nil }
        var content = record.content(of: record.url)
        (content.size, content.digest) = (stored.bytes, stored.digest)
        content.fields[.contentType] = stored.contentType
        return (content, folder.folder)
    }

    /// The media type of a picture, without its parameters; `nil` for another type.
    package static func pictureType(_ text: String) -> String? {
        let type = text.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        return type.hasPrefix("image/") && type.utf8.count <= 64 ? type : nil
    }

    /// Milliseconds since 1970; 0 where the file is missing, which the run's check finds later.
    private static func modification(of path: String) -> Int64 {
        var status = stat()
        guard lstat(path, &status) == 0 else { return 0 }
        return Int64(status.modification.tv_sec) * 1000 + Int64(status.modification.tv_nsec) / 1_000_000
    }
}

/// A picture that an earlier run fetched.
package struct FoundPicture: Sendable {
    package let id: URLID
    package let url: String
    package let bytes: Int
    /// Such as `image/png`.
    package let type: String
    package let digest: [UInt8]
    package let httpStatus: Int?
    package let writtenMilliseconds: Int64
}
