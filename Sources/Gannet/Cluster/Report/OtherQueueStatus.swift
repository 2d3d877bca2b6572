/// A queue beside the one that somebody looks at.
package struct OtherQueueStatus: Sendable, Equatable {
    package let name: String

    /// Jobs that have not ended.
    package let open: Int

    /// Those that live, as far as a hundred.
    package let workers: Int
}
