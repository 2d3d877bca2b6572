internal import ClusterState
internal import HTTPEngine

extension Job {
    private static let traceHeader = "traceparent"

    /// What tells an origin of the trace that one request is a part of; nothing for a job without one, or whose own headers tell of another.
    /// - Parameter id: The request's own: no two have the same.
    func traceFields(besides headers: [HeaderField], id: UInt64) -> [HeaderField] {
        guard let trace, !headers.contains(where: { $0.name.lowercased() == Self.traceHeader }) else { return [] }
        return HeaderField(name: Self.traceHeader, value: trace.child(id).text).map { [$0] } ?? []
    }
}
