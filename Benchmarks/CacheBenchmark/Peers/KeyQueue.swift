/// Keys in order, each at most once: neighbours by key.
struct KeyQueue {
    private(set) var first = -1
    private var last = -1
    private(set) var cost = 0
    private(set) var count = 0
    private var previous: [Int32]
    private var next: [Int32]

    init(keyCount: Int) {
        previous = Array(repeating: -1, count: keyCount)
        next = previous
    }

    mutating func append(_ key: Int, cost: Int) {
        previous[key] = Int32(last)
        next[key] = -1
        if last < 0 { first = key } else { next[last] = Int32(key) }
        last = key
        self.cost += cost
        count += 1
    }

    mutating func remove(_ key: Int, cost: Int) {
        if previous[key] < 0 { first = Int(next[key]) } else { next[Int(previous[key])] = next[key] }
        if next[key] < 0 { last = Int(previous[key]) } else { previous[Int(next[key])] = previous[key] }
        self.cost -= cost
        count -= 1
    }
}
