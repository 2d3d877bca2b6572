internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// Compares two manifests URL by URL. Each URL counts once, with its first row. Both files are read twice at most, in bounded memory.
package final class ManifestComparison {
    /// A URL that is not the same in both manifests.
    package struct Change: Sendable {
        package enum Kind: String, Sendable, CaseIterable {
            /// Its body has other bytes.
            case changed
            /// Only the later manifest has the URL.
            case added
            /// Only the earlier manifest has the URL.
            case removed
            /// It had a body, and has none any more.
            case failed
            /// It had no body, and has one now.
            case mended
        }

        package let kind: Kind
        package let url: String
        package let old: Row?
        package let new: Row?
    }

    /// A manifest's line of a URL.
    package struct Row: Sendable, Decodable {
        package struct Failure: Sendable, Decodable {
            package let `class`: String
        }

        package let url: String?
        package let outcome: String
        package let sha256: String?
        package let bytes: Int?
        package let httpStatus: Int?
        package let error: Failure?

        fileprivate var hasBody: Bool { sha256 != nil }
    }

    package private(set) var counts: [Change.Kind: Int] = [:]
    package private(set) var same = 0
    /// Lines that are no rows of a manifest.
    package private(set) var unreadable = 0

    private let old: ManifestSource
    private let new: ManifestSource
    private let table: URLTable
    private let decoder = JSONDecoder()

    /// - Parameters:
    ///   - old: The path of a manifest, or of the folder that it is in.
    ///   - folder: A folder for the index of large manifests.
    package init(_ old: String, _ new: String, folder: String) throws {
        self.old = try ManifestSource(old)
        self.new = try ManifestSource(new)
        // A row has some 300 bytes.
        table = try URLTable(in: folder, expecting: self.old.size / 300)
    }

    /// Blocks.
    /// - Parameter tell: Gets each change: those of the later manifest in its order, then the URLs that are gone.
    package func run(_ tell: (Change) throws -> Void) throws {
        unreadable += try forEachRow(of: old) { offset, id, _ in
            try table.update(id) { entry in
                if !entry.marks.contains(.listed) { entry = URLTable.Entry(offset: offset, marks: .listed) }
            }
        }
        unreadable += try forEachRow(of: new) { _, id, row in
            let (known, isFirst) = try table.update(id) { entry in
                let known = entry
                entry.marks.insert(.shown)
                return (known, !known.marks.contains(.shown))
            }
            guard isFirst else { return }
            let earlier = known.marks.contains(.listed) ? try self.row(of: old, at: known.offset) : nil
            guard let kind = Self.kind(earlier, row) else {
                same += 1
                return
            }
            try note(Change(kind: kind, url: row.url ?? "", old: earlier, new: row), tell)
        }
        _ = try forEachRow(of: old) { offset, id, row in
            guard let entry = table[id], entry.offset == offset, !entry.marks.contains(.shown) else { return }
            try note(Change(kind: .removed, url: row.url ?? "", old: row, new: nil), tell)
        }
    }

    private func note(_ change: Change, _ tell: (Change) throws -> Void) throws {
        counts[change.kind, default: 0] += 1
        try tell(change)
    }

    private static func kind(_ old: Row?, _ new: Row) -> Change.Kind? {
        guard let old else { return .added }
        switch (old.hasBody, new.hasBody) {
        case (true, true): return old.sha256 == new.sha256 ? nil : .changed
        case (true, false): return .failed
        case (false, true): return .mended
        case (false, false): return nil
        }
    }

    /// Answers how many lines are no rows.
    private func forEachRow(of source: ManifestSource, _ body: (Int, URLID, Row) throws -> Void) throws -> Int {
        var cursor = LineCursor(source, from: 0, to: source.size)
        var failure: (any Error)?
        var (rows, others) = (0, 0)
        while try cursor.next({ offset, line in
            guard failure == nil, !line.isEmpty else { return }
            guard let row = row(line) else {
                others += 1
                return
            }
            rows += 1
            guard let url = row.url, row.outcome != "invalid", let id = Self.id(of: url) else { return }
            do { try body(offset, id, row) } catch { failure = error }
        }) {
            if let failure { throw failure }
        }
        if let failure { throw failure }
        if rows == 0, others > 0 {
            throw StorageFailure("\(source.path.escapedForDisplay) is no manifest: none of its lines is a row of one.")
        }
        return others
    }

    private func row(_ line: UnsafeRawBufferPointer) -> Row? { try? decoder.decode(Row.self, from: Data(line)) }

    private func row(of source: ManifestSource, at offset: Int) throws -> Row? {
        var cursor = LineCursor(source, from: offset, to: source.size)
        var found: Row?
        _ = try cursor.next { _, line in found = row(line) }
        return found
    }

    private static func id(of url: String) -> URLID? { URLID(Array(SHA256Digest(of: url.utf8).bytes.prefix(URLID.count))) }
}

/// A manifest that was written.
private final class ManifestSource: LineSource {
    let path: String
    /// With a line break behind the last line, which may have none.
    let size: Int
    private let descriptor: Int32

    init(_ path: String) throws {
        var status = stat()
        let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        self.path = isFolder ? "\(path)/\(Manifest.name)" : path
        descriptor = open(self.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageFailure.refused("file", self.path, "read") }
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw StorageFailure("\(self.path.escapedForDisplay) is not a file, and a manifest is read twice.")
        }
        size = Int(status.st_size) + 1
    }

    deinit { close(descriptor) }

    func read(into buffer: inout [UInt8], at position: Int, count: Int, from offset: Int) throws -> Int {
        let result = buffer.withUnsafeMutableBytes { buffer in
            Descriptor.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[position..<position + count]), from: descriptor, at: offset)
        }
        guard let result else { throw StorageFailure.refused("file", path, "read") }
        guard result < count, offset + result == size - 1 else { return result }
        buffer[position + result] = UInt8(ascii: "\n")
        return result + 1
    }
}
