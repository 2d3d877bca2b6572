/// The order in which a worker visits partitions: rendezvous hashing, so that workers spread over all of them without a word.
enum PartitionOrder {
    static func of(_ worker: String, count: Int) -> [Int] {
        let weights = (0..<count).map { weight(worker, $0) }
        return (0..<count).sorted { (weights[$0], $0) > (weights[$1], $1) }
    }

    private static func weight(_ worker: String, _ partition: Int) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in worker.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ UInt64(partition)) &* 0x9e37_79b9_7f4a_7c15
        // FNV leaves the high bits of short texts alike.
        hash = (hash ^ (hash >> 31)) &* 0xbf58_476d_1ce4_e5b9
        return hash ^ (hash >> 29)
    }
}
