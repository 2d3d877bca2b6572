internal import GannetBase
internal import GannetRedisClient

/// The partitions of a namespace, and the servers that have them.
package struct PartitionOverview: Sendable, Equatable {
    /// A server that does not answer, and its partitions. The overview's sums leave them out.
    package struct Away: Sendable, Equatable {
        /// The primary's address; `nil` for partitions that no server has.
        package let primary: String?
        package let partitions: [Int]
        /// A sentence about the server.
        package let sentence: String
    }

    package let count: Int
    /// How many primaries of a cluster have them; zero outside a cluster.
    package let primaries: Int
    package let away: [Away]
}

extension FetchQueue {
    /// Looks at all partitions side by side. In a cluster one server may be away: then its partitions are missing.
    /// - Parameters:
    ///   - isForOnlookers: See ``look(at:isForOnlookers:batches:)``.
    ///   - batches: Numbers of batches that are read too.
    func lookEverywhere(
        isForOnlookers: Bool = true, batches: [Int] = []
    ) async throws -> (looks: [Int: PartitionLook], PartitionOverview?) {
        let results = try await withThrowingTaskGroup(of: (Int, Result<PartitionLook, StateError>).self) { group in
            for partition in cluster.partitions {
                group.addTask {
                    let found = try await cluster.orGiveUp(partition.keys.state) {
                        try await look(at: partition, isForOnlookers: isForOnlookers, batches: batches)
                    }
                    return (partition.index, found)
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        guard cluster.partitions.count > 1 else { return (try results.mapValues { try $0.get() }, nil) }
        var (looks, errors): ([Int: PartitionLook], [String: (error: StateError, partitions: [Int])]) = ([:], [:])
        for (index, result) in results {
            switch result {
            case .success(let look): looks[index] = look
            case .failure(let error):
                let server = cluster.connection.primary(of: cluster.partitions[index].keys.state)?.address.description ?? ""
                errors[server, default: (error, [])].partitions.append(index)
            }
        }
        if looks.isEmpty, let first = errors.first { throw first.value.error }
        let away = errors.map { server, found in
            PartitionOverview.Away(
                primary: server.isEmpty ? nil : server, partitions: found.partitions.sorted(), sentence: found.error.description)
        }
        let primaries = Set(cluster.partitions.compactMap { cluster.connection.primary(of: $0.keys.state)?.address })
        let overview = PartitionOverview(
            count: cluster.partitions.count, primaries: primaries.count, away: away.sorted { $0.partitions[0] < $1.partitions[0] })
        return (looks, overview)
    }
}

extension ClusterState {
    /// A failure is only returned in a cluster, and only where the server is away. Any other error is thrown.
    /// - Parameter place: A key of the server.
    func orGiveUp<Value: Sendable>(
        _ place: RedisArgument, _ question: @escaping @Sendable () async throws -> Value
    ) async throws -> Result<Value, StateError> {
        guard connection.isCluster else { return .success(try await question()) }
        return try await withThrowingTaskGroup(of: Result<Value, StateError>?.self) { group in
            group.addTask {
                do {
                    return .success(try await question())
                } catch {
                    // A server that refuses the password is as good as away.
                    guard let known = StateError(error), known.isTransient || connection.primary(of: place)?.failure != nil else {
                        throw error
                    }
                    return .failure(known)
                }
            }
            group.addTask { .failure(.redis(try await connection.absence(ofServersWith: [place]))) }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let first else { throw CancellationError() }
            return first
        }
    }
}
