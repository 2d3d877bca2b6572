internal import ClusterState

/// The trace that a batch is a part of, as its producer names it: the value of a `traceparent` header.
package struct TraceParent: Sendable, Equatable {
    let context: TraceContext

    /// 32 hexadecimal digits.
    package var traceID: String { context.traceID }

    init(_ context: TraceContext) { self.context = context }

    /// - Throws: An error whose description is the second half of a sentence.
    package init(_ text: String) throws { context = try TraceContext(text) }
}
