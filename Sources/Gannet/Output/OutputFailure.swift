package import ClusterState
internal import HTTPEngine

/// Bodies cannot be put where they belong, as a sentence for the person who has to mend it. The next one would meet the same.
package struct OutputFailure: Error, Sendable, CustomStringConvertible {
    package let description: String

    /// Where bodies are kept in Redis, and it is Redis that fails.
    package let cluster: ClusterError?

    package init(_ description: String) {
        self.description = description
        cluster = nil
    }

    init(_ error: ClusterError) {
        description = error.description
        cluster = error
    }

    /// Runs `body`, whose errors are those of a file.
    static func storing<Value>(_ body: () throws(StorageFailure) -> Value) throws(OutputFailure) -> Value {
        do throws(StorageFailure) {
            return try body()
        } catch {
            let sentence = error.description
            throw OutputFailure(sentence.prefix(1).uppercased() + sentence.dropFirst() + ".")
        }
    }

    /// Runs `body`, whose errors are the cluster's state's.
    static func wrapping<Value>(_ body: () async throws(StateError) -> Value) async throws(OutputFailure) -> Value {
        do throws(StateError) {
            return try await body()
        } catch {
            throw OutputFailure(ClusterError(error))
        }
    }
}
