/// One sample of a dataset: parts with one key, such as a picture, its caption and its figures.
package struct ShardSample: Sendable {
    /// Letters, digits, `-` and `_`. It begins with a letter or digit, because readers skip names with `__` in front.
    package var key: String
    /// In this order in the file.
    package var parts: [Part]

    package struct Part: Sendable {
        /// Without a dot in front, in small letters: `jpg`, `json`, `txt`, `seg.png`.
        package var ending: String
        package var content: ArchiveContent

        package init(_ ending: String, _ content: ArchiveContent) {
            self.ending = ending
            self.content = content
        }
    }

    package init(key: String, parts: [Part]) {
        self.key = key
        self.parts = parts
    }
}

package struct ShardOptions: Sendable {
    package var samplesPerShard = 10_000
    /// A shard ends earlier when it has so many bytes.
    package var shardSize = 8_000_000_000
    /// Shards' names have at least so many digits.
    package var digits = 5

    package init() {}
}

/// Where a sample went.
package struct ShardPlace: Sendable, Hashable {
    package let shard: Int
    /// The name that the shard's file has, or gets when it is complete.
    package let file: String
    /// Whether this sample has completed its shard. All samples of it are durable now.
    package let isComplete: Bool
}

/// A sample in a complete shard.
package struct FoundSample: Sendable, Hashable {
    package let key: String
    /// The names of its parts, in their order.
    package var names: [String]

    package init(key: String, names: [String]) {
        self.key = key
        self.names = names
    }
}

/// Names inside and outside of shards.
enum ShardName {
    static let ending = ".tar"
    static let open = ".open"

    /// Letters, digits, `-` and `_`, and at least one.
    static func isPlain(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// The names of a sample's files, or why readers would not take them for one sample.
    static func names(of sample: ShardSample) throws -> [String] {
        guard isPlain(sample.key), let first = sample.key.utf8.first, first != UInt8(ascii: "_"), first != UInt8(ascii: "-") else {
            throw ArchiveError.unfit(
                "The key \(sample.key.prefix(100).debugDescription) may have letters, digits, - and _ alone, and begins with a letter or digit."
            )
        }
        guard !sample.parts.isEmpty else { throw ArchiveError.unfit("The sample \(sample.key) has no parts.") }
        var seen: Set<String> = []
        return try sample.parts.map { part in
            let words = part.ending.split(separator: ".", omittingEmptySubsequences: false)
            guard words.allSatisfy({ isPlain($0) }), part.ending == part.ending.lowercased(), seen.insert(part.ending).inserted else {
                throw ArchiveError.unfit(
                    "The ending \(part.ending.prefix(100).debugDescription) of \(sample.key) may have small letters, digits, - and _ between dots, once."
                )
            }
            let name = "\(sample.key).\(part.ending)"
            // A longer one would take a second header in the tar format.
            guard name.utf8.count <= 100 else { throw ArchiveError.unfit("The name \(name.prefix(120)) is longer than 100 bytes.") }
            return name
        }
    }

    static func file(_ number: Int, digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text + ending
    }

    /// The number of a shard's file, complete or open; nil for other names.
    static func number(_ name: String) -> (number: Int, isOpen: Bool)? {
        let isOpen = name.hasSuffix(ending + open)
        guard let digits = ArchiveFolder.middle(of: name, from: "", to: isOpen ? ending + open : ending), digits.utf8.count <= 15,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(digits)
        else { return nil }
        return (number, isOpen)
    }
}
