internal import GannetRedisClient

/// A complete state machine behind one hash tag. A namespace has a fixed number of them, and each host belongs to one.
package struct Partition: Sendable, Hashable {
    package let index: Int
    let keys: Keys

    private init(_ index: Int, of namespace: String, tag: String) {
        self.index = index
        keys = Keys(namespace: namespace, tag: tag)
    }

    package static let most = 64
    /// How many partitions a new namespace gets on a cluster. They keep some primaries busy, and a worker can look after them.
    static let usualInCluster = 16

    /// All partitions of a namespace.
    /// - Parameter isSpread: Their slots are evenly far from each other, so that the primaries of a cluster have equally many of them.
    static func all(_ count: Int, of namespace: String, isSpread: Bool) -> [Partition] {
        let tags = isSpread ? SpreadTags.of(namespace, count: count) : (0..<count).map { plainTag($0, of: namespace) }
        return tags.enumerated().map { Partition($0, of: namespace, tag: $1) }
    }

    private static func plainTag(_ index: Int, of namespace: String) -> String {
        index == 0 ? "{\(namespace)}" : "{\(namespace):\(index)}"
    }

    package static func == (one: Partition, other: Partition) -> Bool { one.keys.tag == other.keys.tag }
    package func hash(into hasher: inout Hasher) { hasher.combine(keys.tag) }

    /// FNV-1a. A host's partition never changes, and so neither does this function.
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

extension ClusterState {
    /// The partition that knows the host, its URLs' jobs and their outcomes.
    package func partition(of host: String) -> Partition {
        partitions.count == 1 ? partitions[0] : partitions[Int(Partition.hash(host.utf8) % UInt64(partitions.count))]
    }

    /// The partition in which batches have their records, and queues what they are told.
    package var home: Partition { partitions[0] }
}

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
