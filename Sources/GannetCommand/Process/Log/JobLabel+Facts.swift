import Gannet

extension JobLabel {
    /// For logs.
    /// - Parameter event: What has become of the job.
    func facts(_ event: String, _ more: LogFacts = []) -> LogFacts {
        var facts: LogFacts = [(key: "event", value: .string(event)), (key: "url", value: .string(url))]
        if let id { facts.append((key: "job", value: .string(id))) }
        if let batch { facts.append((key: "batch", value: .string(batch))) }
        if let trace { facts.append((key: "traceID", value: .string(trace))) }
        return facts + more
    }
}
