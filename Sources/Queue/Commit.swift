internal import GannetRedisClient

/// A step that was prepared by reading with plain commands. Redis carries it out as a whole, if each reply that it rests on is still the same.
/// So other callers may be at work meanwhile, and a step whose reply was lost may be repeated. `Scripts/commit.lua` carries it out.
struct Commit {
    private var checks: [RedisArgument] = []
    private var writes: [RedisArgument] = []
    private var checkCount = 0
    private(set) var byteCount = 0

    /// The effect of a step on its queue.
    enum Effect {
        case none
        /// The queue gets a new batch. A full Redis refuses the step.
        case begins
        /// So many idle workers hear of the step, and all hear of the end of the last job.
        case wakes(Int)
    }

    var effect = Effect.none

    var isEmpty: Bool { writes.isEmpty }

    /// A reply, without which the step is not carried out. A number counts as its digits, and nothing as no bytes.
    mutating func check(_ reply: [UInt8]?, _ command: RedisArgument...) { check(reply, RedisCommand(command)) }

    mutating func check(_ reply: [UInt8]?, _ command: RedisCommand) {
        checks += [.bytes(reply ?? []), .integer(command.arguments.count)] + command.arguments
        checkCount += 1
        byteCount += reply?.count ?? 0
    }

    /// A change. The first argument behind its name is the key.
    mutating func write(_ command: RedisArgument...) { writes += [.integer(command.count)] + command }

    /// Adds to a counter.
    mutating func count(_ by: Int, _ field: String, in key: RedisArgument) {
        if by != 0 { write("HINCRBY", key, .string(field), .integer(by)) }
    }

    /// Answers whether the step was carried out. A step without changes tells whether all that was checked holds at one moment.
    func run(_ cluster: ClusterState, in partition: Partition, queue: String = "") async throws -> Bool {
        let told: RedisArgument =
            switch effect {
            case .none: ""
            case .begins: "begins"
            case .wakes(let workers): .integer(workers)
            }
        return try await cluster.run(
            cluster.scripts.commit, in: partition, queue: queue, [.integer(checkCount), told] + checks + writes
        ).asInteger() == 1
    }
}
