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
    package enum Reading: Equatable {
        case favourites([Favourite])
        case newer
        case damaged
    }

    private struct File: Codable {
        var version = 1
        var favourites: [Entry]
    }

    private struct Version: Codable {
        var version: Int
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

    package static func read(_ bytes: [UInt8]) -> Reading {
        let data = Data(bytes)
        guard let version = try? JSONDecoder().decode(Version.self, from: data) else { return .damaged }
        guard version.version <= 1 else { return .newer }
        guard version.version == 1, let file = try? JSONDecoder().decode(File.self, from: data) else { return .damaged }
        var known: Set<String> = []
        // A time that no clock shows could not be written again.
        guard file.favourites.allSatisfy({ abs($0.added / 2) < 1 << 52 }) else { return .damaged }
        return .favourites(
            file.favourites.filter { known.insert($0.id).inserted }
                .map { Favourite($0.id, added: Date(timeIntervalSince1970: Double($0.added) / 1000)) })
    }
}
