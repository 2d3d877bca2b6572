internal import GannetRedisClient

/// Hash tags whose slots are spread evenly over a cluster. The cluster's slots are divided into as many equal parts as there are tags, and
/// each tag is in another part. Primaries with equally many neighbouring slots, which is how clusters are made, then have equally many tags.
enum SpreadTags {
    /// `{name}`, then `{name:1}` or the first of `{name:1.1}`, `{name:1.2}` and so on whose slot is in the next part.
    static func of(_ name: String, count: Int) -> [String] {
        let home = "{\(name)}"
        let first = part(HashSlot(of: home.utf8), of: count)
        let stem = HashSlot.Checksum(of: "\(name):".utf8)
        return [home]
            + (1..<max(count, 1)).map { index in
                let wanted = (first + index) % count
                let plain = stem.adding("\(index)".utf8)
                if part(plain.slot, of: count) == wanted { return "{\(name):\(index)}" }
                // Some `count` of them are tried. They differ in their last digits.
                let numbered = plain.adding(".".utf8)
                var number = 1
                while part(numbered.adding(number: number).slot, of: count) != wanted { number += 1 }
                return "{\(name):\(index).\(number)}"
            }
    }

    private static func part(_ slot: HashSlot, of count: Int) -> Int { slot.number * count / HashSlot.count }
}
