package import GannetBase
package import GannetQueue

/// The pictures that a run found in its folder, and the bodies of all that the folder records.
///
/// No job stands for a file that is there already, so the run itself notes such a picture while it reads its list.
package final class FoundPictures: Sendable {
    private struct State {
        var folder: RecordedFolder?
        var pictures: [(id: URLID, url: String)] = []
        var isCut = false
    }

    private let state = Mutex(State())
    /// The most pictures. Each takes some 100 bytes.
    private let most: Int

    package init(most: Int = 200_000) { self.most = most }

    /// Begins with a folder, whose record has been read.
    package func begin(with folder: RecordedFolder) {
        state.withLock { $0 = State(folder: folder) }
    }

    /// Notes a listed URL whose file is there already. Files that are no pictures are left out.
    package func note(_ id: URLID, _ url: String) throws {
        try state.withLock { state in
            guard !state.isCut, let content = try state.folder?.content(of: id, url), Self.pictureType(of: content) != nil else { return }
            guard state.pictures.count < most else {
                state.isCut = true
                return
            }
            state.pictures.append((id, url))
        }
    }

    /// Some of the pictures, in the order of the list.
    package struct Part: Sendable {
        /// As outcomes would describe them, each with the time of its file. A picture whose record has become another is left out.
        package var pictures: [(id: URLID, content: OutcomeContent, written: Date)] = []
        /// The place behind them.
        package let end: Int
        package let isMore: Bool
        /// There were more than the bound.
        package let isCut: Bool
    }

    package func part(from start: Int, atMost count: Int) -> Part {
        let (folder, found, isMore, isCut) = state.withLock { state in
            let found = state.pictures.dropFirst(start).prefix(count)
            return (state.folder, Array(found), found.endIndex < state.pictures.endIndex, state.isCut)
        }
        var part = Part(end: start + found.count, isMore: isMore, isCut: isCut)
        for (id, url) in found {
            guard let folder, let content = try? folder.content(of: id, url) else { continue }
            // The run's check finds a file later that is missing.
            let written = folder.folder.time(of: content.fields[.file] ?? "") ?? Date(timeIntervalSince1970: 0)
            part.pictures.append((id, content, written))
        }
        return part
    }

    /// The latest body that the folder records for a URL, as an outcome would describe it, and the folder; `nil` where it has none.
    package func body(of id: URLID) throws -> (content: OutcomeContent, folder: BodyFolder)? {
        let folder = state.withLock { $0.folder }
        guard let folder, let content = try folder.content(of: id, nil) else { return nil }
        return (content, folder.folder)
    }

    /// The media type of a picture, without its parameters; `nil` for another type.
    package static func pictureType(of content: OutcomeContent) -> String? {
        let type = (content.fields[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        return type.hasPrefix("image/") && type.utf8.count <= 64 ? type : nil
    }
}

extension RecordedFolder {
    /// - Parameter url: Nil for that of the record, which a run leaves out.
    fileprivate func content(of id: URLID, _ url: String?) throws -> OutcomeContent? {
        guard let record = try journal.record(of: id), !record.isFailed, !record.isUnfit else { return nil }
        let stored = record.stored
        guard stored.digest != nil else { return nil }
        var content = record.content(of: url ?? record.url)
        (content.size, content.digest) = (stored.bytes, stored.digest)
        content.fields[.contentType] = stored.contentType
        return content
    }
}
