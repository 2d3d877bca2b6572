import GannetBase

/// Parts of error sentences.
enum Sentence {
    /// `a`, `a or b`, `a, b or c`.
    static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// `a`, `a and b`, `a, b and c`.
    static func all(of words: [String]) -> String {
        (words.dropLast(2) + [words.suffix(2).joined(separator: " and ")]).joined(separator: ", ")
    }

    /// A word as a shell takes it: in quotes where it has more in it than letters, digits and a few marks.
    static func quotedForShell(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || "0123456789/._-+:@%,=~".unicodeScalars.contains($0) }
        return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }

    /// A user's text, fit to be shown: what could drive a terminal is replaced, and the length is bounded. The name and
    /// the password of a URL are left out, which may stand where no URL belongs.
    static func quoted(_ text: String, limit: Int = 200) -> String { "'" + shown(text, limit: limit) + "'" }

    /// The same without the quotes.
    static func shown(_ text: String, limit: Int) -> String {
        withoutUser(text).shown(atMost: limit)
    }
}

extension Sentence {
    /// A password may have any sign in it, so all up to the last `@` is left out.
    private static func withoutUser(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://"), let at = text[scheme.upperBound...].lastIndex(of: "@") else { return text }
        return text[..<scheme.upperBound] + "•••" + text[at...]
    }

    /// The name that was probably meant by a mistyped word.
    static func closest(to word: String, among names: [String]) -> String? {
        // A pasted document costs nothing.
        guard word.utf8.count <= 64 else { return nil }
        let limit = max(1, min(3, word.count / 3))
        let near = names.map { (name: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
        return near.min { $0.distance < $1.distance }?.name
    }

    /// A question behind an error, or nothing.
    static func didYouMean(_ word: String, among names: [String], prefix: String = "") -> String {
        closest(to: word, among: names).map { " Did you mean '\(prefix)\($0)'?" } ?? ""
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (`satus`, `stauts`) between two words.
    private static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first), Array(second))
        var before: [Int] = []
        var above = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(above[j + 1] + 1, row[j] + 1, above[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    best = min(best, before[j - 1] + 1)
                }
                row.append(best)
            }
            before = above
            above = row
        }
        return above[b.count]
    }
}
