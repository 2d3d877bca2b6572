/// S3-FIFO as in the paper, with a small queue of a tenth that lets through what was asked for once more.
struct PublishedS3FIFO: Policy {
    private let costLimit: Int
    private var small: KeyQueue
    private var main: KeyQueue
    /// In the order in which they left the small queue; each entry is worth something only if the key still has that number.
    private var ghosts: [(key: Int, number: Int)] = []
    private var firstGhost = 0
    private var ghostCount = 0
    private var keys: [Key]

    private struct Key {
        enum Place { case nowhere, small, main }
        var place = Place.nowhere
        var hits = 0
        var cost = 0
        /// Not zero while it is remembered.
        var ghost = 0
    }

    init(costLimit: Int, keyCount: Int) {
        self.costLimit = costLimit
        small = KeyQueue(keyCount: keyCount)
        main = KeyQueue(keyCount: keyCount)
        keys = Array(repeating: Key(), count: keyCount)
    }

    mutating func request(_ number: UInt32, cost: Int) -> Bool {
        let key = Int(number)
        if keys[key].place != .nowhere {
            keys[key].hits = min(keys[key].hits + 1, 3)
            return true
        }
        guard cost <= costLimit else { return false }
        let isRemembered = keys[key].ghost != 0
        if isRemembered {
            keys[key].ghost = 0
            ghostCount -= 1
        }
        while small.cost + main.cost + cost > costLimit {
            if small.count > 0, main.count == 0 || small.cost > costLimit / 10 { evictFromSmall() } else { evictFromMain() }
        }
        keys[key] = Key(place: isRemembered ? .main : .small, cost: cost)
        if isRemembered { main.append(key, cost: cost) } else { small.append(key, cost: cost) }
        return false
    }

    private mutating func evictFromSmall() {
        let key = small.first
        small.remove(key, cost: keys[key].cost)
        guard keys[key].hits == 0 else {
            keys[key].hits = 0
            keys[key].place = .main
            main.append(key, cost: keys[key].cost)
            return
        }
        keys[key].place = .nowhere
        ghosts.append((key, ghosts.count + 1))
        keys[key].ghost = ghosts.count
        ghostCount += 1
        while ghostCount > main.count {
            let oldest = ghosts[firstGhost]
            firstGhost += 1
            guard keys[oldest.key].ghost == oldest.number else { continue }
            keys[oldest.key].ghost = 0
            ghostCount -= 1
        }
    }

    private mutating func evictFromMain() {
        while true {
            let key = main.first
            main.remove(key, cost: keys[key].cost)
            guard keys[key].hits > 0 else {
                keys[key].place = .nowhere
                return
            }
            keys[key].hits -= 1
            main.append(key, cost: keys[key].cost)
        }
    }
}
