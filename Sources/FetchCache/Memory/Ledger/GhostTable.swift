/// Hashes of entries that were evicted not long ago: buckets of eight marks, one cache line each, in which the oldest makes room.
///
/// It may forget one before its time and, seldom, take one for another; both cost at most a hit.
struct GhostTable {
    private struct Mark {
        var tag: UInt32 = 0
        var time: UInt32 = 0
    }

    private static let bucket = 8

    private var marks: ContiguousArray<Mark> = []
    /// Counts what was added. Begins far enough from zero that blank marks are old.
    private var time: UInt32 = 1 << 31

    /// - Parameter limit: How many there is to be room for.
    mutating func add(_ hash: Int, limit: Int) {
        if limit > marks.count / 4 * 3 { grow(to: limit) }
        guard !marks.isEmpty else { return }
        put(Mark(tag: Self.tag(hash), time: time))
        time &+= 1
    }

    /// Takes the hash out. Answers how many were added since it was, itself included, if these are no more than the limit.
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

    /// The index goes by the lower half of the hash.
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
