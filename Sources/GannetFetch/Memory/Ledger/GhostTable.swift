/// Hashes of entries that were evicted not long ago. The table has buckets of eight marks, one cache line each; a new mark replaces the
/// oldest of its bucket.
///
/// It may forget a mark too early and, seldom, take one for another. Either costs at most a hit.
struct GhostTable {
    private struct Mark {
        var tag: UInt32 = 0
        var time: UInt32 = 0
    }

    private static let bucket = 8

    private var marks: ContiguousArray<Mark> = []
    /// Counts additions. It begins far enough from zero that blank marks are old.
    private var time: UInt32 = 1 << 31

    /// The number of marks that there is room for.
    var size: Int { marks.count }

    /// - Parameter limit: The number of marks that the table needs room for.
    mutating func add(_ hash: Int, limit: Int) {
        if limit > marks.count / 4 * 3 { grow(to: limit) }
        guard !marks.isEmpty else { return }
        put(Mark(tag: Self.tag(hash), time: time))
        time &+= 1
    }

    /// Takes a hash out. Returns the number of additions since its own, which included, if that is no more than the limit.
    mutating func remove(_ hash: Int, limit: Int) -> Int? {
        guard !marks.isEmpty else { return nil }
        let tag = Self.tag(hash)
        for position in positions(tag) where marks[position].tag == tag {
            let age = Int(time &- marks[position].time)
            marks[position] = Mark(tag: 0, time: time &- 1 << 31)
            return age <= limit ? age : nil
        }
        return nil
    }

    /// The index of a cache uses the lower half of the hash.
    private static func tag(_ hash: Int) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

    private func positions(_ tag: UInt32) -> Range<Int> {
        let start = Int(tag) & (marks.count / Self.bucket - 1) * Self.bucket
        return start..<start + Self.bucket
    }

    private mutating func put(_ mark: Mark) {
        var oldest = -1
        var age: UInt32 = 0
        for position in positions(mark.tag) {
            if marks[position].tag == mark.tag {
                oldest = position
                break
            }
            if oldest < 0 || time &- marks[position].time > age {
                oldest = position
                age = time &- marks[position].time
            }
        }
        marks[oldest] = mark
    }

    private mutating func grow(to limit: Int) {
        var size = max(marks.count, Self.bucket)
        while limit > size / 4 * 3 { size *= 2 }
        let old = marks
        marks = ContiguousArray(repeating: Mark(), count: size)
        for mark in old where mark.time != 0 { put(mark) }
    }
}
