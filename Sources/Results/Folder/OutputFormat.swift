internal import GannetBase
internal import GannetHTTP

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
package struct OtherFormat: Error {
    package let sentence: String

    /// - Parameter pictures: The options for pictures with which the folder was begun, where only these differ; empty for none.
    init(_ folder: BodyFolder, begun: OutputFormat, pictures: String?) {
        let advice =
            switch pictures {
            case nil: "with '--output-format \(begun.rawValue)'. Choose that format, or another folder."
            case "":
                "without options for pictures, and holds bodies as they were fetched. Leave these options out, or choose another folder."
            case let pictures?: "with '\(pictures)'. Choose the same options for pictures, or another folder."
            }
        sentence = "The folder \(folder.displayPath) was begun \(advice)"
    }
}

extension BodyFolder {
    /// Takes the folder for results in this format. The caller holds the folder's lock alone.
    ///
    /// A folder without a note, but with a journal, is one of files, which need none.
    /// - Parameter pictures: The options by which pictures are made of bodies; empty where none are.
    /// - Throws: ``OtherFormat``, or a failure of the storage.
    package func claim(_ format: OutputFormat, pictures: String = "") throws {
        let own = try ownFolder(RecordedFolder.name)
        let note = "\(own)/format"
        if Self.hasRecords(own) {
            let words = (Self.line(of: note) ?? OutputFormat.files.rawValue).split(separator: " ", maxSplits: 1).map(String.init)
            guard let begun = words.first.flatMap({ OutputFormat(rawValue: $0) }) else {
                throw StorageFailure("The file \(note.escapedForDisplay) is of another version of gannet.")
            }
            let begunPictures = words.count > 1 ? words[1] : ""
            guard begun == format, begunPictures == pictures else {
                throw OtherFormat(self, begun: begun, pictures: begun == format ? begunPictures : nil)
            }
            return
        }
        let manifest = "\(path)/\(Manifest.name)"
        if let line = Self.line(of: manifest), !line.isEmpty, !line.hasPrefix(ManifestLine.start) {
            throw StorageFailure(
                "The file \(manifest.escapedForDisplay) is no manifest of gannet, and would be replaced. Move it away, or choose another folder."
            )
        }
        guard format != .files || !pictures.isEmpty else {
            unlink(note)
            return
        }
        try write("\(format.rawValue)\(pictures.isEmpty ? "" : " ")\(pictures)", as: note)
    }

    /// Notes how new files are named. The caller holds the folder's lock alone.
    /// - Returns: How the last command named its files, where that is another way. They keep their names.
    package func claimNames() throws -> NameStyle? {
        let own = try ownFolder(RecordedFolder.name)
        let note = "\(own)/names"
        let earlier = Self.line(of: note).flatMap { NameStyle(rawValue: $0) }
        guard earlier != names else { return nil }
        try write(names.rawValue, as: note)
        return Self.hasRecords(own) ? earlier : nil
    }

    private func write(_ line: String, as note: String) throws {
        try publish(newFile(of: Array("\(line)\n".utf8)), as: note)
    }

    /// Whether an earlier command has recorded the end of a URL.
    private static func hasRecords(_ own: String) -> Bool {
        guard let journal = fileStatus("\(own)/\(Journal.name)") else { return false }
        return Int(journal.st_size) > Journal.heading.count
    }

    private static func line(of path: String) -> String? {
        guard let file = try? OpenedFile(path, O_RDONLY), let bytes = Descriptor.contents(of: file.descriptor, atMost: 512) else {
            return nil
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
