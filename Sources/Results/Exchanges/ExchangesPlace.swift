internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The exchanges of a fetch that a store keeps, as the outcome names them: by their SHA-256 and their size.
package struct ExchangesPlace: Sendable, Equatable {
    package let digest: [UInt8]
    package let size: Int

    /// No store takes longer ones.
    static let most = 100_000_000

    init(_ bytes: [UInt8]) {
        digest = SHA256Digest(of: bytes).bytes
        size = bytes.count
    }

    /// Nil for text of another form: other programs may write into Redis.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].utf8.count == 64, let digest = [UInt8](hexadecimal: words[0].utf8), let size = Int(words[1]),
            1...Self.most ~= size
        else { return nil }
        self.digest = digest
        self.size = size
    }

    package var text: String { "\(digest.hexadecimal) \(size)" }
}

extension OutcomeContent {
    /// The exchanges of the fetch, where the batch of its job keeps them.
    var exchanges: ExchangesPlace? { fields[.wire].flatMap { ExchangesPlace($0) } }
}
