internal import ClusterState
internal import RedisClient

/// Why the cluster's state could not be reached or changed, as a sentence for the person who has to mend it.
public struct ClusterError: Error, Sendable, CustomStringConvertible {
    public enum Reason: Sendable {
        /// The address or what goes with it is wrong.
        case usage
        /// Redis is away, refuses us, or is not fit for this.
        case unavailable
        /// The namespace belongs to a version of another schema.
        case otherSchema
        /// Something that cannot be has happened.
        case defect
    }

    public let reason: Reason
    public let description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    init(_ error: RedisError) {
        description = error.description
        reason =
            switch error.kind {
            case .invalidConfiguration: .usage
            case .unexpectedReply, .scriptFailed, .noScript, .closed: .defect
            default: .unavailable
            }
    }

    init(_ error: StateError) {
        switch error {
        case .redis(let error): self.init(error)
        case .otherSchema: self.init(.otherSchema, error.description)
        case .newerFormat, .unknownBatch: self.init(.unavailable, error.description)
        case .batchCancelled, .batchClosed, .otherHeaders, .invalid: self.init(.usage, error.description)
        }
    }

    /// Runs `body`, whose errors are Redis', for callers who know only this one.
    static func wrappingRedis<Result: ~Copyable>(_ body: () async throws(RedisError) -> Result) async throws(ClusterError) -> Result {
        do throws(RedisError) {
            return try await body()
        } catch {
            throw ClusterError(error)
        }
    }
    /// Runs `body`, whose errors are the cluster's state's.
    static func wrapping<Result: ~Copyable>(_ body: () async throws(StateError) -> Result) async throws(ClusterError) -> Result {
        do throws(StateError) {
            return try await body()
        } catch {
            throw ClusterError(error)
        }
    }
}
