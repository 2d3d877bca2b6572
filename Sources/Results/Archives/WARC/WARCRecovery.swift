internal import GannetBase

/// A file that a killed run has left, after its recovery.
package struct RecoveredFile: Sendable, Hashable {
    /// Its name when it is complete. A file without captures is removed.
    package let name: String
    /// Responses, revisits and resources.
    package let captures: Int
    /// The bytes behind the last whole record. They are gone.
    package let bytesCut: Int
    package let isRemoved: Bool
}

extension WARCWriter {
    /// Cuts each file that earlier runs have left open back to its last whole record, indexes it and completes it.
    ///
    /// A run calls this before it makes its writer. Files of other prefixes, and a file that another process is writing, stay as they are.
    package static func recover(_ folder: String, prefix: String) throws -> [RecoveredFile] {
        try ArchiveFolder.names(in: folder).compactMap { name in
            guard ArchiveFolder.middle(of: name, from: prefix + "-", to: WARCFile.ending + WARCFile.open) != nil else { return nil }
            return try recover(folder, name: String(name.dropLast(WARCFile.open.count)))
        }
    }

    // A file's index is far smaller: it is completed where its index has 32 MiB.
    private static let largestIndex = 512 << 20

    private static func recover(_ folder: String, name: String) throws -> RecoveredFile? {
        guard var file = try WARCFile(recoveringIn: folder, name: name) else { return nil }
        guard !ArchiveFolder.exists("\(folder)/\(name)") else {
            throw ArchiveError.foreign(
                path: "\(folder)/\(name)", "is there beside an unfinished file of its name. Move one of them elsewhere.")
        }
        let size = file.size
        let scanner = try RecordScanner(file.file, size: size)
        var end = 0
        while let record = try scanner.next() {
            end = record.offset + record.length
            if let capture = record.capture { file.add(capture, offset: record.offset, length: record.length) }
            guard file.index.size <= largestIndex else {
                throw ArchiveError.foreign(
                    path: file.file.path, "has more records than this program writes into a file. Move it elsewhere.")
            }
        }
        let captures = file.index.count
        if captures == 0 {
            try file.remove()
        } else {
            if end < size { try file.cut(to: end) }
            try file.complete()
        }
        return RecoveredFile(name: name, captures: captures, bytesCut: size - end, isRemoved: captures == 0)
    }
}
