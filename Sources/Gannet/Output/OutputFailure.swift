/// Bodies cannot be put where they belong, as a sentence for the person who has to mend it. The next one would meet the same.
package struct OutputFailure: Error, Sendable, CustomStringConvertible {
    package let description: String

    /// Where bodies are kept in Redis, and it is Redis that fails.
    let cluster: ClusterError?

    package init(_ description: String) {
        self.description = description
        cluster = nil
    }

    init(_ error: ClusterError) {
        description = error.description
        cluster = error
    }
}
