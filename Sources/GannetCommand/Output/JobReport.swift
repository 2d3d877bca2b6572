import Gannet

/// A job as people and as scripts read it.
struct JobReport: Sendable {
    let job: JobSummary

    var json: JSONValue {
        [
            "state": .string(job.state.rawValue), "url": .string(job.url), "host": .string(job.host), "ageSeconds": JSONValue(job.age),
            "activeSeconds": JSONValue(job.state == .active ? job.since : nil),
            "dueInSeconds": JSONValue(job.state == .delayed ? job.since.map { .zero - $0 } : nil),
            "deadSeconds": JSONValue(job.state == .dead ? job.since : nil), "failures": .integer(job.failures),
            "crashes": .integer(job.crashes), "httpStatus": JSONValue(job.httpStatus),
            "error": job.errorClass.map { ["class": .string($0), "message": JSONValue(job.errorMessage)] } ?? .null,
        ]
    }

    /// What the table says of its time.
    var when: String {
        switch (job.state, job.since) {
        case (.delayed, let since?): since < .zero ? "due in \(Amounts.time(.zero - since))" : "due"
        case (.active, let since?): "for \(Amounts.time(since))"
        case (.dead, let since?): "\(Amounts.time(since)) ago"
        default: "enqueued \(Amounts.time(job.age)) ago"
        }
    }

    var attempts: String {
        guard job.failures + job.crashes > 0 else { return "-" }
        return "\(job.failures) failed" + (job.crashes > 0 ? ", \(job.crashes) crashed" : "")
    }
}
