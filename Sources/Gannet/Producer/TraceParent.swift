internal import ClusterState

/// The trace that a batch is a part of, as its producer names it: the value of a `traceparent` header.
package struct TraceParent: Sendable, Equatable {
    let context: TraceContext

    /// 32 hexadecimal digits.
    package var traceID: String { context.traceID }

    /// Why a text is none: the second half of a sentence.
    package struct Invalid: Error {
        package let reason: String
    }

    init(_ context: TraceContext) { self.context = context }

    package init(_ text: String) throws(Invalid) {
        do throws(TraceContext.Invalid) {
            context = try TraceContext(text)
        } catch {
            throw Invalid(reason: error.reason)
        }
    }
}
