internal import GannetHTTP
internal import GannetQueue

extension Job {
    /// The headers of the job's request; `nil` if some are missing, or if this version cannot send them. Without them the origin may send
    /// another answer.
    var headerFields: [HeaderField]? {
        guard let headers else { return nil }
        let fields = headers.fields
        return fields.count == headers.lines.count ? fields : nil
    }

    private static let traceHeader = "traceparent"

    /// The header that tells an origin which trace a request is a part of; none if the job has no trace, or sets this header itself.
    /// - Parameter id: The id of the request. No two requests have the same.
    func traceFields(besides headers: [HeaderField], id: UInt64) -> [HeaderField] {
        guard let trace, !headers.contains(where: { $0.name.lowercased() == Self.traceHeader }) else { return [] }
        return HeaderField(name: Self.traceHeader, value: trace.child(id).text).map { [$0] } ?? []
    }
}
