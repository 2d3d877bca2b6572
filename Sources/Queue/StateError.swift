package import GannetRedisClient

/// Why the state in Redis could not be read or changed. A call that throws has changed either nothing, or everything that it was asked to
/// change.
package enum StateError: Error, Sendable, Equatable {
    case redis(RedisError)

    /// The namespace belongs to a version with another schema. Neither version understands the other's data.
    case otherSchema(found: String)

    /// The namespace's entry of its schema and its number of partitions cannot be read.
    case damagedSchema(key: String, found: String?)

    /// The namespace has keys, and no entry of its schema and its number of partitions.
    case lostSchema(namespace: String)

    /// The server of a namespace's first partition is away in a cluster. Without it nobody can tell how many partitions there are.
    case homeAway(namespace: String, RedisError)

    /// A server of the cluster is away. The words say which partitions it has.
    case partAway(words: String, RedisError)

    /// The call was carried out in some partitions only. The sentence says what is done, and how to go on.
    indirect case partly(String, StateError)

    /// A counter or the clock in this key is no number.
    case damaged(key: String)

    /// The batch was never begun, or was removed with its queue.
    case unknownBatch

    /// The batch that is being filled is gone, or has less of its input than Redis had answered. So many jobs had been accepted.
    case batchLost(accepted: Int)

    /// The jobs are in the queue, and no replica of this server has said in this time that it has them too.
    case notReplicated(Duration, server: String?)

    /// No more jobs can be added to the batch.
    case batchCancelled, batchClosed

    /// The batch was begun with other request headers.
    case otherHeaders

    /// A value is outside its bounds. The text is a whole sentence.
    case invalid(String)

    /// The server cannot hold a queue. The text is a whole sentence.
    case unfitServer(String)
}

extension StateError {
    /// The part that has to be put right.
    package enum Reason: Sendable {
        /// The address, or another value that the caller gave.
        case usage
        /// The server: it is away, refuses this user, or is not fit for a queue.
        case unavailable
        /// Replicas did not confirm in time. The same call may be repeated.
        case unconfirmed
        /// The namespace, which belongs to a version with another schema.
        case otherSchema
        /// This software.
        case defect
    }

    package var reason: Reason {
        switch self {
        case .homeAway, .partAway: .unavailable
        case .partly(_, let error): error.reason
        case .redis(let error):
            switch error.reason {
            case .usage: .usage
            case .unavailable: .unavailable
            case .otherVersion: .otherSchema
            case .defect: .defect
            }
        case .otherSchema, .damagedSchema: .otherSchema
        case .notReplicated: .unconfirmed
        case .unknownBatch, .batchLost, .unfitServer, .lostSchema, .damaged: .unavailable
        case .batchCancelled, .batchClosed, .otherHeaders, .invalid: .usage
        }
    }

    /// Redis' own error, where Redis is the reason.
    package var redis: RedisError? {
        switch self {
        case .redis(let error), .homeAway(_, let error), .partAway(_, let error): error
        case .partly(_, let error): error.redis
        default: nil
        }
    }

    /// A key holds a value of another type.
    package var isWrongType: Bool { redis?.kind == .wrongType }

    /// The caller's task was cancelled.
    package var isCancellation: Bool { redis?.kind == .cancelled }

    /// Whether the same call can succeed later without anybody changing anything.
    package var isTransient: Bool { redis?.isTransient ?? false }

    /// The call may have been carried out although there is no answer.
    package var mayHaveExecuted: Bool { redis?.mayHaveExecuted ?? false }

    /// Keeps a `StateError` as it is, and wraps a `RedisError` or a `CancellationError`. `nil` for any other error.
    package init?(_ error: any Error) {
        switch error {
        case let error as StateError: self = error
        case let error as RedisError: self = error.damagedKey.map { .damaged(key: $0) } ?? .redis(error)
        case is CancellationError: self = .redis(RedisError(.cancelled))
        default: return nil
        }
    }

    /// Runs a call, and turns any error that it throws into a `StateError`.
    package static func mapping<Answer, Failure: Error>(
        _ call: () async throws(Failure) -> Answer
    ) async throws(StateError) -> Answer {
        do {
            return try await call()
        } catch {
            throw StateError(error) ?? .redis(RedisError(.unexpectedReply, "\(error)"))
        }
    }
}

extension StateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .redis(let error): error.description
        case .homeAway(_, let error) where error.isOfWholeCluster:
            "\(error.description) The whole cluster waits for them: 'cluster-require-full-coverage' is yes, or most of its primaries are away."
        case .homeAway(let namespace, let error) where error.kind == .tryAgain:
            "\(error.description) The keys are those of partition 0 of the namespace '\(namespace)', without which no command can begin."
        case .homeAway(let namespace, let error):
            "\(error.description) That part of the cluster has partition 0 of the namespace '\(namespace)', with the number of its partitions "
                + "and the records of workers and batches. No command can begin without it. Workers that run go on with the other partitions."
        case .partAway(let words, let error):
            "\(error.description) In this namespace \(words). 'gannet status' shows the others, and workers go on with them."
        case .partly(let sentence, let error): "\(error.description) \(sentence)"
        case .otherSchema(let found):
            "The data in this namespace has schema \(found), and this version of gannet knows \(ClusterState.schema). "
                + "Use another namespace, or the version that wrote it."
        case .damagedSchema(let key, let found):
            "The key '\(key)' holds \(found.map { "'\($0.prefix(40))'" } ?? "a value of another type"), which is no schema with a number of partitions. Another program has changed it. "
                + "Set the key to '\(ClusterState.schema)/1' if the namespace was begun without '--partitions', else to that number in place of 1."
        case .lostSchema(let namespace):
            "The key '{\(namespace)}schema' is gone, and other keys of the namespace are there: Redis has lost it, or another program has removed it. "
                + "It holds the number of partitions, without which no job can be found. 'gannet doctor' says how to set it again."
        case .damaged(let key):
            "The key '\(key)' holds a counter or a clock that is no number: another program has changed it. 'gannet doctor' names the field, "
                + "and says what to do."
        case .unknownBatch: "There is no such batch: the queue was emptied meanwhile, or Redis has lost data. Run the command again."
        case .batchLost(let accepted):
            "Redis has lost this batch or a part of it, as after a failover, or the queue was purged. "
                + "\(accepted) URL\(accepted == 1 ? "" : "s") of it had been accepted. "
                + "Run the same command again: a URL whose outcome is known is not fetched again."
        case .notReplicated(let time, let server):
            "The jobs are in the queue, but no replica \(server.map { "of \($0) " } ?? "")has confirmed them within "
                + "\(time.components.seconds) seconds. Look at the replicas of \(server == nil ? "Redis" : "that server"), and run the same command again for the same batch: nothing is added twice."
        case .batchCancelled: "The batch was cancelled. Enqueue under another batch name."
        case .batchClosed: "The batch is complete, nothing can be added to it. Enqueue under another batch name."
        case .otherHeaders: "The batch was begun with other request headers. Enqueue under another batch name."
        case .invalid(let sentence), .unfitServer(let sentence): sentence
        }
    }
}
