internal import ClusterState
internal import HTTPEngine

extension Job {
    /// The headers of the job's request; `nil` where some are missing, or this version cannot send them: without them another answer may come.
    var headerFields: [HeaderField]? {
        guard let headers else { return nil }
        let fields = headers.fields
        return fields.count == headers.lines.count ? fields : nil
    }

    private static let traceHeader = "traceparent"

    /// Tells an origin of the trace that one request is a part of; nothing for a job without a trace, or with such a header of its own.
    /// - Parameter id: The request's own: no two have the same.
    func traceFields(besides headers: [HeaderField], id: UInt64) -> [HeaderField] {
        guard let trace, !headers.contains(where: { $0.name.lowercased() == Self.traceHeader }) else { return [] }
        return HeaderField(name: Self.traceHeader, value: trace.child(id).text).map { [$0] } ?? []
    }
}
