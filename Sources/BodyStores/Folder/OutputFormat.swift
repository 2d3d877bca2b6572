internal import GannetBasics
internal import HTTPEngine

/// How a run writes its results into a folder.
package enum OutputFormat: String, Sendable, CaseIterable {
    /// Each body is a file.
    case files
    /// Requests and answers as they went over the wire, in archives.
    case warc
    /// Bodies with what is known of them, as samples in tar files.
    case shards
}

/// A folder holds results in one format. Rows of the other one would never be found again.
package struct OtherFormat: Error, Sendable, Equatable {
    package let begun: OutputFormat
    /// For messages.
    package let folder: String

    package var sentence: String {
        "The folder \(folder) was begun with '--output-format \(begun.rawValue)'. Choose that format, or another folder."
    }
}

extension BodyFolder {
    /// Takes the folder for results in this format. The caller holds the folder's lock alone.
    ///
    /// A folder without a note, but with a journal, is one of files: they are the format that older versions knew.
    /// - Throws: ``OtherFormat``, or a failure of the storage.
    package func claim(_ format: OutputFormat) throws {
        let own = try ownFolder(RecordedFolder.name)
        let note = "\(own)/format"
        if Self.size(of: "\(own)/\(Journal.name)") > JournalFile.heading.count {
            let begun = Self.line(of: note).map { OutputFormat(rawValue: $0) } ?? .files
            guard let begun else { throw StorageFailure("The file \(note.escapedForDisplay) is of another version of gannet.") }
            guard begun == format else { throw OtherFormat(begun: begun, folder: displayPath) }
            return
        }
        guard format != .files else {
            unlink(note)
            return
        }
        let file = try BodyFile(in: path, .ordinary)
        try Array("\(format.rawValue)\n".utf8).withUnsafeBytes { try file.write($0) }
        try publish(try file.keep(), as: note)
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func line(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { Descriptor.read(into: $0, from: descriptor, at: 0) } ?? 0
        return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
