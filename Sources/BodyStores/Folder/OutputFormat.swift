internal import GannetBasics
internal import HTTPEngine

/// How a run writes its results into a folder.
package enum OutputFormat: String, Sendable, CaseIterable {
    /// Each body is a file.
    case files
    /// Requests and answers as they went over the wire, in archives.
    case warc
    /// Samples in tar files: each body with its figures.
    case shards
}

/// A folder holds results in one format, and pictures that were made in one way. Rows of the other ones would never be found again.
package struct OtherFormat: Error, Sendable, Equatable {
    package let begun: OutputFormat
    /// The options for pictures with which the folder was begun; empty where bodies are stored as they are.
    package var pictures = ""
    /// Whether only the options for pictures differ.
    package var isOfPictures = false
    /// For messages.
    package let folder: String

    package var sentence: String {
        guard isOfPictures else {
            return "The folder \(folder) was begun with '--output-format \(begun.rawValue)'. Choose that format, or another folder."
        }
        return pictures.isEmpty
            ? "The folder \(folder) was begun without options for pictures, and holds bodies as they were fetched. Leave these options out, or choose another folder."
            : "The folder \(folder) was begun with '\(pictures)'. Choose the same options for pictures, or another folder."
    }
}

extension BodyFolder {
    /// Takes the folder for results in this format. The caller holds the folder's lock alone.
    ///
    /// A folder without a note, but with a journal, is one of files: they are the format that older versions knew.
    /// - Parameter pictures: The options by which pictures are made of bodies; empty where none are.
    /// - Throws: ``OtherFormat``, or a failure of the storage.
    package func claim(_ format: OutputFormat, pictures: String = "") throws {
        let own = try ownFolder(RecordedFolder.name)
        let note = "\(own)/format"
        if Self.size(of: "\(own)/\(Journal.name)") > JournalFile.heading.count {
            let words = (Self.line(of: note) ?? OutputFormat.files.rawValue).split(separator: " ", maxSplits: 1).map(String.init)
            guard let begun = words.first.flatMap({ OutputFormat(rawValue: $0) }) else {
                throw StorageFailure("The file \(note.escapedForDisplay) is of another version of gannet.")
            }
            let begunPictures = words.count > 1 ? words[1] : ""
            guard begun == format, begunPictures == pictures else {
                throw OtherFormat(begun: begun, pictures: begunPictures, isOfPictures: begun == format, folder: displayPath)
            }
            return
        }
        guard format != .files || !pictures.isEmpty else {
            unlink(note)
            return
        }
        let file = try BodyFile(in: path, .ordinary)
        try Array("\(format.rawValue)\(pictures.isEmpty ? "" : " ")\(pictures)\n".utf8).withUnsafeBytes { try file.write($0) }
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
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = bytes.withUnsafeMutableBytes { Descriptor.read(into: $0, from: descriptor, at: 0) } ?? 0
        return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
