package import RedisClient

/// The name that some targets still use.
package typealias ClusterError = StateError

extension StateError {
    package init(_ reason: Reason, _ sentence: String) { self = .invalid(sentence) }
    package static func wrapping<Answer, Failure: Error>(
        _ call: () async throws(Failure) -> Answer
    ) async throws(StateError) -> Answer { try await mapping(call) }
    package static func wrappingRedis<Answer, Failure: Error>(
        _ call: () async throws(Failure) -> Answer
    ) async throws(StateError) -> Answer {
        try await mapping(call)
    }
    package init(_ error: StateError) { self = error }
    package init(_ error: RedisError) { self = .redis(error) }
}
