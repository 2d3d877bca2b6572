internal import GannetRedisClient

/// Partitions that are there and not known, or known and not there: Redis has lost keys of the namespace as a whole.
extension Audit {
    /// Answers false for a namespace without a schema. Nobody can tell which partitions such a namespace has.
    mutating func lookAtSchema() async throws -> Bool {
        let schema = "'{\(state.namespace)}schema'"
        guard state.hasSchema else {
            let strange = try await strangePartitions(knowing: [])
            let isHomeThere = try await !keys(beginningWith: state.home.keys.tag).isEmpty
            guard isHomeThere || !strange.isEmpty, try await state.schemaIsMissing() else { return false }
            let last = strange.values.max() ?? 0
            let found = last == 0 ? "keys of partition 0 are" : "keys of partitions up to \(last) are"
            add(.schemaLost, "\(schema): \(found) there")
            return false
        }
        let strange = try await strangePartitions(knowing: Set(state.partitions.map(\.keys.tag)))
        for (tag, _) in strange.sorted(by: { ($0.value, $0.key) > ($1.value, $1.key) }) {
            add(.partitionUnknown, "'\(tag)', where \(schema) names \(state.partitions.count)")
        }
        return true
    }

    /// Partition 0 has each queue's records, in other partitions the queue's parts.
    mutating func lookAtHome() async throws {
        guard queuesAtHome.isEmpty, let first = queues.sorted().first else { return }
        // They are looked at again: a queue may have been purged or begun meanwhile.
        for name in queues {
            let keys = state.home.keys
            for key in [keys.queue(name), keys.batches(of: name)] {
                if try await state.connection.send(RedisCommand("EXISTS", key)).asInteger() > 0 { return }
            }
        }
        add(.homeLost, first, count: queues.count)
    }

    /// The tags of partitions that have keys and are not known, with their numbers.
    private func strangePartitions(knowing known: Set<String>) async throws -> [String: Int] {
        var found: [String: Int] = [:]
        let start = "{\(state.namespace):"
        for name in try await keys(beginningWith: start) {
            let rest = name.dropFirst(start.utf8.count)
            guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else { continue }
            let numbers = String(decoding: rest[..<end], as: UTF8.self)
            let tag = start + numbers + "}"
            // `{name:3}`, or `{name:3.14}` in a cluster.
            let parts = numbers.split(separator: ".", omittingEmptySubsequences: false)
            guard !known.contains(tag), (1...2).contains(parts.count), parts.allSatisfy({ Int($0) != nil }), let index = Int(parts[0]),
                (1..<Partition.most).contains(index)
            else { continue }
            found[tag] = index
        }
        // A namespace that is called like that has a schema of its own.
        for tag in found.keys {
            let reply = await state.connection.pipeline([RedisCommand("EXISTS", .string(tag + "schema"))])
            if case .success(.integer(1)) = reply[0] { found[tag] = nil }
        }
        return found
    }

    /// The names of all keys that begin so, at all servers. For each tag one name is enough.
    private func keys(beginningWith start: String) async throws -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        var tags: Set<[UInt8]> = []
        for place in state.allPlaces {
            try await state.scan("SCAN", matching: Self.pattern(beginning: start), at: place) { keys in
                for name in try keys.map({ try $0.asBytes() }) where tags.insert(Array(name.prefix { $0 != UInt8(ascii: "}") })).inserted {
                    names.insert(name)
                }
            }
        }
        return names
    }
}

/// Batches of which a partition knows nothing, because its server lost data.
extension Audit {
    /// As many batches as a partition keeps, whose jobs have ended (`Scripts/Parts/counts.lua`).
    private static let mostKept = 1000
    /// For how long it keeps them.
    private static let keptFor = Duration.seconds(30 * 86_400)

    mutating func lookAtBatches() async throws {
        guard state.partitions.count > 1, !findings.contains(where: { $0.kind == .wrongType }) else { return }
        for name in queues.sorted() {
            let queue = state.queue(name)
            let full = try await fullPartitions(of: name)
            func isLost(_ batch: Batch) -> Bool { batch.lostParts > full && batch.age.map { $0 < Self.keptFor } ?? false }
            let suspects = try await queue.batches(limit: Self.mostKept).batches.filter(isLost)
            // They are looked at again: somebody may have purged the queue meanwhile.
            let lost = suspects.isEmpty ? [] : try await queue.batches(suspects.map(\.number)).filter(isLost)
            guard let first = lost.first else { continue }
            add(.batchPartLost, "\(first.name) of the queue \(name)", count: lost.count)
        }
    }

    /// How many partitions have so many batches that they forget old ones, which another partition may still know.
    private func fullPartitions(of queue: String) async throws -> Int {
        let commands = state.partitions.map { RedisCommand("HGET", $0.keys.queue(queue), "kept") }
        return try await state.connection.pipeline(commands).count {
            try $0.get().asOptionalString().flatMap { Int($0) } ?? 0 >= Self.mostKept
        }
    }
}
