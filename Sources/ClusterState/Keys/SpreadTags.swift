internal import RedisClient

/// Hash tags whose slots are spread evenly over a cluster. The cluster's slots are divided into as many equal parts as there are tags, and
/// each tag is in another part. Primaries with equally many neighbouring slots, which is how clusters are made, then have equally many tags.
enum SpreadTags {
    /// `{name}`, then `{name:1}` or the first of `{name:1.1}`, `{name:1.2}` and so on whose slot is in the next part.
    static func of(_ name: String, count: Int) -> [String] {
        let home = "{\(name)}"
        let first = part(of: home, count)
        return [home]
            + (1..<max(count, 1)).map { index in
                let wanted = (first + index) % count
                var (tag, number) = ("{\(name):\(index)}", 0)
                while part(of: tag, count) != wanted {
                    number += 1
                    tag = "{\(name):\(index).\(number)}"
                }
                return tag
            }
    }

    private static func part(of tag: String, _ count: Int) -> Int { HashSlot(of: tag.utf8).number * count / HashSlot.count }
}
