/// A complete state machine behind one hash tag. A namespace has a fixed number of them, and each host belongs to one.
package struct Partition: Sendable, Hashable {
    package let index: Int
    let keys: Keys

    init(_ index: Int, of namespace: String) {
        self.index = index
        keys = Keys(namespace: namespace, partition: index)
    }

    package static let most = 64

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
