import ClusterState
import GannetBasics
import HTTPEngine

/// A job as people and as scripts read it.
struct JobReport: Sendable {
    let job: ListedJob
    /// Queue time, ms.
    let now: Int

    /// Without credentials.
    var url: String { RedactedURL.withoutSecrets(job.entry.url) }
    var errorClass: String? { job.error?.fields[.errorClass] }
    var errorMessage: String? { job.error?.fields[.errorMessage] }
    private var since: Duration? { job.since(at: now) }

    var json: JSONValue {
        [
            "state": .string(job.state.rawValue), "url": .string(url), "host": .string(job.entry.host),
            "ageSeconds": JSONValue(job.age(at: now)),
            "activeSeconds": JSONValue(job.state == .active ? since : nil),
            "dueInSeconds": JSONValue(job.state == .delayed ? since.map { .zero - $0 } : nil),
            "deadSeconds": JSONValue(job.state == .dead ? since : nil), "failures": .integer(job.failures),
            "crashes": .integer(job.crashes), "httpStatus": JSONValue(job.error?.httpStatus),
            "error": errorClass.map { ["class": .string($0), "message": JSONValue(errorMessage)] } ?? .null,
        ]
    }

    /// The time in the table, by state.
    var when: String {
        switch (job.state, since) {
        case (.delayed, let since?): since < .zero ? "due in \(Amounts.time(.zero - since))" : "due"
        case (.active, let since?): "for \(Amounts.time(since))"
        case (.dead, let since?): "\(Amounts.time(since)) ago"
        default: "enqueued \(Amounts.time(job.age(at: now))) ago"
        }
    }

    var attempts: String {
        guard job.failures + job.crashes > 0 else { return "-" }
        return "\(job.failures) failed" + (job.crashes > 0 ? ", \(job.crashes) crashed" : "")
    }
}
