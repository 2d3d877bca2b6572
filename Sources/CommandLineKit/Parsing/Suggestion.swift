/// The name that someone who mistyped one probably meant.
enum Suggestion {
    /// Longer words are not compared, so that a pasted document costs nothing.
    private static let longest = 64

    static func closest(to word: String, among names: [String]) -> String? {
        guard word.utf8.count <= longest else { return nil }
        let limit = max(1, min(3, word.count / 3))
        let near = names.map { (name: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
        return near.min { $0.distance < $1.distance }?.name
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (`satus`, `stauts`) between two words.
    static func distance(_ first: String, _ second: String) -> Int {
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
