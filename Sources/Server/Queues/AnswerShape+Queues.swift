internal import Crawl
internal import GannetQueue

/// The answers about queues. Most of their members have their shape beside their value (`Fields`).
extension AnswerShape {
    /// Of every answer about a queue.
    private static let ofQueue: AnswerShape = ["schema": .integer, "queue": .text]
    private static let ofState: AnswerShape = ofQueue + ["state": .word(JobState.allCases.map(\.rawValue))]

    static let status = QueueStatus.fields.shape

    static let history = ofQueue + ["stepSeconds": .number, "throughput": .list(.optional(.number)), "depth": .list(.optional(.number))]

    static let explanation = URLLook.fields.shape

    static let batch = ofQueue + Batch.fields.shape

    static let batches = ofQueue + ["batches": .list(Batch.fields.shape), "total": .integer]

    static let jobs = ofState + ["jobs": .list(JobLook.fields.shape), "cursor": .optional(.text)]

    static let count = ofState + ["count": .integer, "atLeast": .flag]

    static let deadHosts = ofQueue + ["hosts": .list(["host": .text, "class": .text, "count": .integer]), "atLeast": .flag]

    static let sweep =
        ofQueue + ["state": .text, "change": .word(["retried", "deleted"]), "count": .integer, "stuck": .integer]

    static let accepted =
        ofQueue + [
            "batch": .optional(.text), "accepted": .integer, "invalid": .integer,
            "complaints": .list(["place": .text, "reason": .text]),
        ]

    static let pause = ofQueue + ["wasPaused": .flag]

    static let rule = ["schema": .integer] + OperatorRule.fields.shape

    static let rules: AnswerShape = ["schema": .integer, "rules": .list(OperatorRule.fields.shape)]

    static let cleared: AnswerShape = ["schema": .integer, "host": .text, "cleared": .flag]
}
