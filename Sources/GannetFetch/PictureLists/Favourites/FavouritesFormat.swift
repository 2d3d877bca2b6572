public import FoundationEssentials

/// A picture that somebody likes, and since when.
public struct Favourite: Sendable, Hashable, Identifiable {
    public let id: Picture.ID
    /// To the millisecond.
    public let added: Date

    init(_ id: Picture.ID, added: Date) {
        self.id = id
        // As the file keeps it, so that a favourite equals itself when it is read again.
        self.added = Date(timeIntervalSince1970: (added.timeIntervalSince1970 * 1000).rounded() / 1000)
    }
}

/// Prints an `id` that is a URL without its password: in a log, in a dump, or as a part of another value.
extension Favourite: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["id": RedactedURL(id).description, "added": added], displayStyle: .struct) }
}

/// The bytes of a file of favourites: JSON, so that other programs can read it.
package enum FavouritesFormat {
    private struct File: Codable {
        var version = 1
        var favourites: [Entry]
    }

    private struct Entry: Codable {
        var id: String
        /// Milliseconds since 1970.
        var added: Int64
    }

    /// Ends with a line break, for people who look at it.
    package static func bytes(_ favourites: [Favourite]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let entries = favourites.map { Entry(id: $0.id, added: Int64(($0.added.timeIntervalSince1970 * 1000).rounded())) }
        guard let data = try? encoder.encode(File(favourites: entries)) else { preconditionFailure("Texts and numbers can be encoded.") }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// Nil for a file that is damaged, or of another version.
    package static func read(_ bytes: [UInt8]) -> [Favourite]? {
        guard let file = try? JSONDecoder().decode(File.self, from: Data(bytes)), file.version == 1 else { return nil }
        var known: Set<String> = []
        // A time that no clock shows could not be written again.
        guard file.favourites.allSatisfy({ abs($0.added / 2) < 1 << 52 }) else { return nil }
        return file.favourites.filter { known.insert($0.id).inserted }
            .map { Favourite($0.id, added: Date(timeIntervalSince1970: Double($0.added) / 1000)) }
    }
}
