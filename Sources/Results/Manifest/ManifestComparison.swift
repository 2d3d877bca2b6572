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

    private let old: LineFile
    private let new: LineFile
    private let table: URLTable
    private let decoder = JSONDecoder()

    /// - Parameters:
    ///   - old: The path of a manifest, or of the folder that it is in.
    ///   - folder: A folder for the index of large manifests.
    package init(_ old: String, _ new: String, folder: String) throws {
        let size: Int
        (self.old, size) = try Self.open(old)
        (self.new, _) = try Self.open(new)
        // A row has some 300 bytes.
        table = try URLTable(in: folder, expecting: size / 300)
    }

    private static func open(_ path: String) throws -> (LineFile, size: Int) {
        var status = stat()
        let isFolder = stat(path, &status) == 0 && status.isFolder
        let file = try LineFile(isFolder ? "\(path)/\(Manifest.name)" : path)
        guard let size = file.size else {
            throw StorageFailure("\(file.path.escapedForDisplay) is not a file, and a manifest is read twice.")
        }
        return (file, size)
    }

    /// Blocks.
    /// - Parameter tell: Gets each change: those of the later manifest in its order, then the URLs that are gone.
    package func run(_ tell: (Change) throws -> Void) throws {
        unreadable += try forEachRow(of: old) { offset, id, _ in
            try table.update(id) { entry in
                if !entry.marks.contains(.listed) { entry = URLTable.Entry(offset: offset, marks: .listed) }
            }
        }
        var lookup = LineReader(old, isLoose: true)
        unreadable += try forEachRow(of: new) { _, id, row in
            let (known, isFirst) = try table.update(id) { entry in
                let known = entry
                entry.marks.insert(.shown)
                return (known, !known.marks.contains(.shown))
            }
            guard isFirst else { return }
            var earlier: Row?
            if known.marks.contains(.listed) { _ = try lookup.line(at: known.offset) { earlier = self.row($0) } }
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
    private func forEachRow(of file: LineFile, _ body: (Int, URLID, Row) throws -> Void) throws -> Int {
        var reader = LineReader(file, isLoose: true)
        var (rows, others) = (0, 0)
        while try reader.next({ offset, line in
            if line.isEmpty { return }
            guard let row = row(line) else {
                others += 1
                return
            }
            rows += 1
            guard let url = row.url, row.outcome != "invalid", let id = Self.id(of: url) else { return }
            try body(offset, id, row)
        }) {}
        if rows == 0, others > 0 {
            throw StorageFailure("\(file.path.escapedForDisplay) is no manifest: none of its lines is a row of one.")
        }
        return others
    }

    private func row(_ line: UnsafeRawBufferPointer) -> Row? { try? decoder.decode(Row.self, from: Data(line)) }

    private static func id(of url: String) -> URLID? { URLID(Array(SHA256Digest(of: url.utf8).bytes.prefix(URLID.count))) }
}
