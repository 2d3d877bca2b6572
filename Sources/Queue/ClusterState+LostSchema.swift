internal import GannetRedisClient

/// A namespace whose schema is gone while its partitions are there. The next program that uses it would give it another number of partitions,
/// and would not find the jobs of the others.
extension ClusterState {
    /// The cluster with the partitions that a program has given the namespace by now, where it had none when it was opened.
    package func begun() async throws(StateError) -> ClusterState { hasSchema ? self : try await checked(.looks) }

    /// Whether a partition of the namespace is there. The clock of a partition stands there for as long as the namespace.
    func hasLostSchema() async throws -> Bool {
        // Nobody can tell how many partitions there were, nor whether they were spread. One server loses no partition alone, and a user with the
        // rights for one partition may look at no other.
        let tags = Set((1...(connection.isCluster ? Partition.most : 1)).flatMap(possibleTags))
        let states = tags.sorted().map { RedisCommand("EXISTS", .string($0 + "state")) }
        var away: RedisError?
        for reply in await connection.impatient().pipeline(states) {
            switch reply {
            case .success(let found): if try found.asInteger() > 0 { return try await schemaIsMissing() }
            // This part of a cluster is away, or its keys are another user's. The others may tell.
            case .failure(let error): if !error.isTransient, error.kind != .notPermitted { away = error }
            }
        }
        if let away { throw away }
        return false
    }

    /// A program may have begun the namespace meanwhile.
    func schemaIsMissing() async throws -> Bool {
        try await connection.send(RedisCommand("EXISTS", home.keys.schema)).asInteger() == 0
    }

    /// A key at each server, whether that has partitions or not.
    var allPlaces: [RedisArgument] {
        connection.isCluster ? distinctPlaces(Partition.all(Partition.most, of: namespace, isSpread: true)) : [home.keys.state]
    }

    private func possibleTags(of count: Int) -> [String] {
        [false, true].filter { !$0 || connection.isCluster }.flatMap { isSpread in
            Partition.all(count, of: namespace, isSpread: isSpread).map(\.keys.tag)
        }
    }
}
