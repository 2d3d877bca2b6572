/// Tells which cells are near the screen, by their positions in the list.
struct NearCells: Equatable {
    /// On the screen, from first to last.
    var screen: [Int] = []
    /// To be fetched ahead, the nearest first.
    var ahead: [Int] = []
    /// Keeps what it has.
    var behind: [Int] = []
}

/// The direction in which a list scrolls.
struct Scrolling {
    private var isForward = true
    private var last: (first: Int, last: Int)?

    /// The screen shows other cells.
    /// - Parameter positions: The cells on the screen, in any order.
    mutating func move(to positions: some Sequence<Int>, of count: Int, ahead: Int, behind: Int) -> NearCells {
        let screen = Set(positions).filter { (0..<count).contains($0) }.sorted()
        if let first = screen.first, let end = screen.last {
            if let last, (first, end) != last {
                // One edge may stay where it is, such as at the beginning of a list.
                if first >= last.first, end >= last.last {
                    isForward = true
                } else if first <= last.first, end <= last.last {
                    isForward = false
                }
            }
            last = (first, end)
        }
        return near(screen, of: count, ahead: ahead, behind: behind)
    }

    /// The same cells have other positions: that is no scrolling.
    mutating func rearrange(to positions: some Sequence<Int>, of count: Int, ahead: Int, behind: Int) -> NearCells {
        last = nil
        return move(to: positions, of: count, ahead: ahead, behind: behind)
    }

    private func near(_ screen: [Int], of count: Int, ahead: Int, behind: Int) -> NearCells {
        guard let first = screen.first, let last = screen.last else { return NearCells() }
        // A list cannot have more cells than this, and no sum overflows.
        let (ahead, behind) = (min(max(0, ahead), count), min(max(0, behind), count))
        let after = { (length: Int) in Array(last + 1..<min(count, last + 1 + length)) }
        let before = { (length: Int) in Array((max(0, first - length)..<first).reversed()) }
        return isForward
            ? NearCells(screen: screen, ahead: after(ahead), behind: before(behind))
            : NearCells(screen: screen, ahead: before(ahead), behind: after(behind))
    }
}
