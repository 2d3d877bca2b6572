/// Compares patterns with one path, all in normal form, and counts its steps: each is one look at an octet, or one pattern.
///
/// Of a pattern with `*`, each piece between two of them is looked for once, at its first place behind the piece before. That is enough,
/// because an earlier place leaves more room for the pieces behind it. A piece is looked for by the algorithm of Knuth, Morris and Pratt. So
/// the steps of a pattern are at most four times the octets of the path and the pattern together, however many `*` there are.
struct PatternMatcher {
    private let path: UnsafeBufferPointer<UInt8>
    /// For each octet of the piece that is looked for: how many octets before it are also the piece's first ones.
    private var borders: [Int] = []
    private(set) var steps = 0

    /// The path must outlive this value.
    init(path: UnsafeBufferPointer<UInt8>) { self.path = path }

    /// Whether the pattern fits the path's beginning, or all of it where the pattern is anchored.
    mutating func matches(_ pattern: Slice<UnsafeBufferPointer<UInt8>>, isAnchored: Bool) -> Bool {
        steps += 1
        var piece = pattern.prefix { $0 != NormalPath.wildcard }
        guard stands(piece, at: 0) else { return false }
        var position = piece.count
        if piece.endIndex == pattern.endIndex { return !isAnchored || position == path.count }
        while piece.endIndex < pattern.endIndex {
            piece = pattern[(piece.endIndex + 1)...].prefix { $0 != NormalPath.wildcard }
            if piece.endIndex == pattern.endIndex, isAnchored {
                return path.count - piece.count >= position && stands(piece, at: path.count - piece.count)
            }
            guard let end = end(of: piece, from: position) else { return false }
            position = end
        }
        return true
    }

    private mutating func stands(_ piece: Slice<UnsafeBufferPointer<UInt8>>, at position: Int) -> Bool {
        guard piece.count <= path.count - position else { return false }
        for (index, octet) in piece.enumerated() {
            steps += 1
            if path[position + index] != octet { return false }
        }
        return true
    }

    /// The end of the piece's first place.
    private mutating func end(of piece: Slice<UnsafeBufferPointer<UInt8>>, from position: Int) -> Int? {
        if piece.isEmpty { return position }
        guard piece.count <= path.count - position else { return nil }
        findBorders(of: piece)
        var matched = 0
        for index in position..<path.count {
            steps += 1
            while matched > 0, path[index] != piece[piece.startIndex + matched] {
                steps += 1
                matched = borders[matched - 1]
            }
            if path[index] == piece[piece.startIndex + matched] { matched += 1 }
            if matched == piece.count { return index + 1 }
        }
        return nil
    }

    private mutating func findBorders(of piece: Slice<UnsafeBufferPointer<UInt8>>) {
        borders.removeAll(keepingCapacity: true)
        borders.append(0)
        var matched = 0
        for octet in piece.dropFirst() {
            steps += 1
            while matched > 0, octet != piece[piece.startIndex + matched] {
                steps += 1
                matched = borders[matched - 1]
            }
            if octet == piece[piece.startIndex + matched] { matched += 1 }
            borders.append(matched)
        }
    }
}
