internal import HTTPEngine

// What both users of a folder offer, on its threads.
extension BoundedFolder {
    /// Runs a removal. It is never dropped: what was removed must not come back.
    func removing<Value: Sendable>(_ body: @escaping @Sendable () throws(StorageFailure) -> Value) async throws(StoreFailure) -> Value {
        let outcome = await threads.run(.writes, mayBeRefused: false) { _ in Result { () throws(StorageFailure) in try body() } }
        switch outcome {
        case .done(let result): return try result.mapError { StoreFailure.system($0) }.get()
        case .refused: throw .crowded
        case .left: throw .cancelled
        }
    }

    /// Removes all entries, shard by shard, so that others have their turn.
    func removeAll() async throws(StoreFailure) {
        for shard in 0...UInt8.max {
            try await removing { [self] () throws(StorageFailure) in try removeAll(of: shard) }
        }
    }

    /// The usage after counting all shards; what could not be counted is estimated.
    func countedUsage() async -> FolderUsage {
        for shard in 0...UInt8.max {
            guard case .done = await threads.run(.reads, mayBeRefused: false, { [self] _ in count(shard) }) else { break }
        }
        return usage
    }
}
