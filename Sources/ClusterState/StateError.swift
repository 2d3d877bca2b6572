package import RedisClient

/// Why the cluster's state could not be read or changed. Where it is thrown, nothing has changed, or all of what was asked for.
package enum StateError: Error, Sendable, Equatable {
    case redis(RedisError)

    /// The namespace is another version's: this one and that one do not understand each other.
    case otherSchema(found: String)

    /// What is there was written by a newer version of the same schema.
    case newerFormat(String)

    /// The batch is not known: never begun, or cleared away with its queue.
    case unknownBatch

    /// Nothing can be added to the batch any more.
    case batchCancelled
    case batchClosed

    /// The batch's jobs are other requests than what is to be added.
    case otherHeaders

    /// A value outside its bounds, as a sentence.
    case invalid(String)
}

extension StateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .redis(let error): error.description
        case .otherSchema(let found):
            "The data in this namespace has schema \(found), and this version of gannet knows \(ClusterState.schema). "
                + "Use a version of gannet that matches it, or another --namespace."
        case .newerFormat(let what):
            "\(what) was written by a newer version of gannet. Update this one, or let the newer workers deal with it."
        case .unknownBatch: "There is no such batch: the queue was emptied meanwhile, or Redis has lost data. Run the command again."
        case .batchCancelled: "The batch was cancelled. Enqueue under another batch name."
        case .batchClosed: "The batch is complete, nothing can be added to it. Enqueue under another batch name."
        case .otherHeaders: "The batch was begun with other request headers. Enqueue under another batch name."
        case .invalid(let sentence): sentence
        }
    }
}

extension StateError {
    /// Whether trying again later can succeed without anybody changing anything.
    package var isTransient: Bool {
        if case .redis(let error) = self { error.isTransient } else { false }
    }

    /// The call may have been carried out although there is no answer.
    package var mayHaveExecuted: Bool {
        if case .redis(let error) = self { error.mayHaveExecuted } else { false }
    }

    /// Runs `body`, whose errors are Redis'.
    static func wrapping<Answer>(_ body: () async throws(RedisError) -> Answer) async throws(StateError) -> Answer {
        do throws(RedisError) {
            return try await body()
        } catch {
            throw .redis(error)
        }
    }

    static func unexpected(_ what: String) -> StateError {
        .redis(RedisError(.unexpectedReply, "\(what) in another form than expected"))
    }
}
