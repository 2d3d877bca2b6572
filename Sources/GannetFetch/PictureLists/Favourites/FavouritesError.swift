public import FoundationEssentials

/// Favourites could not be read or changed. The description is a sentence for people.
public struct FavouritesError: Error, Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// The file held something else than favourites. It has another name now, and the favourites begin anew.
        case damaged(keptAs: URL)
        /// The favourites are as many as they may be, or their file as long. Nothing was changed.
        case full
        /// The favourite alone would make the file longer than it may be. Nothing was changed.
        case tooLarge
        /// Another process held the lock for ten seconds. Nothing was changed.
        case busy
        /// The system refused, for the reason of this `errno`.
        case system(Int32)
    }

    public let kind: Kind
    public let file: URL
    private let sentence: String

    init(_ kind: Kind, _ file: String, _ sentence: String) {
        self.kind = kind
        self.file = URL(filePath: file)
        self.sentence = sentence
    }
}

extension FavouritesError: CustomStringConvertible {
    public var description: String { sentence }
}

extension FavouritesError: LocalizedError {
    public var errorDescription: String? { description }
}
