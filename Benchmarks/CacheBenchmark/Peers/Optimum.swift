/// The most hits that anyone could have who knows the future, where all entries cost the same: what makes room is what will not be
/// asked for the longest (Belady).
func mostHits(_ trace: Trace, entries: Int) -> Int {
    let requests = trace.requests
    let never = UInt32(requests.count)
    var nextRequest = [UInt32](repeating: never, count: requests.count)
    var seen = [UInt32](repeating: never, count: trace.keyCount)
    for position in requests.indices.reversed() {
        nextRequest[position] = seen[Int(requests[position])]
        seen[Int(requests[position])] = UInt32(position)
    }
    // For each key that is there, when it is asked for next; elsewhere, nil.
    var present = [UInt32?](repeating: nil, count: trace.keyCount)
    var latest = LatestFirst()
    var (hits, count) = (0, 0)
    for (position, request) in requests.enumerated() {
        let key = Int(request)
        if present[key] != nil {
            hits += 1
        } else if count < entries {
            count += 1
        } else {
            while let (time, victim) = latest.removeFirst() {
                // A key that was asked for since is in the heap a second time.
                guard present[Int(victim)] == time else { continue }
                present[Int(victim)] = nil
                break
            }
        }
        present[key] = nextRequest[position]
        latest.add(nextRequest[position], request)
    }
    return hits
}

/// A heap of keys by a time, the latest first.
private struct LatestFirst {
    /// The time in the upper half.
    private var items: [UInt64] = []

    mutating func add(_ time: UInt32, _ key: UInt32) {
        var position = items.count
        let item = UInt64(time) << 32 | UInt64(key)
        items.append(item)
        while position > 0, items[(position - 1) / 2] < item {
            items[position] = items[(position - 1) / 2]
            position = (position - 1) / 2
        }
        items[position] = item
    }

    mutating func removeFirst() -> (UInt32, UInt32)? {
        guard let first = items.first, let item = items.popLast() else { return nil }
        var position = 0
        while !items.isEmpty {
            var child = position * 2 + 1
            guard child < items.count else { break }
            if child + 1 < items.count, items[child + 1] > items[child] { child += 1 }
            guard items[child] > item else { break }
            items[position] = items[child]
            position = child
        }
        if !items.isEmpty { items[position] = item }
        return (UInt32(first >> 32), UInt32(truncatingIfNeeded: first))
    }
}
