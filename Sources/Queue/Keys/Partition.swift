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
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
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
