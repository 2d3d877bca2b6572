internal import GannetQueue

/// The answers about queues. `Values+JSON.swift` of `Gannet` writes most of them.
extension AnswerShape {
    /// Of every answer about a queue.
    private static let ofQueue: AnswerShape = ["schema": .integer, "queue": .text]

    static let status =
        ofQueue + [
            "paused": .flag, "jobs": .integers("ready", "active", "parked", "delayed", "dead"), "oldestReadySeconds": .optional(.number),
            "totals": .integers(
                "enqueued", "done", "fetched", "revalidated", "cached", "failed", "cancelled", "retried", "crashed", "fenced",
                "doubleFetches", "bytes"),
            "rate": ["donePerSecond": .optional(.number), "bytesPerSecond": .optional(.number)], "etaSeconds": .optional(.number),
            "waits": [
                "held": .integer, "hosts": .integer, "delayed": .integer, "silentHosts": .list(silentHost),
                "givenUpWithinSeconds": .optional(.number),
            ],
            "heldBatches": .list(["queue": .text, "batch": .text]),
            "failures": .list(["class": .text, "count": .integer]), "workers": .list(worker), "hosts": .list(host),
            "otherQueues": .list(["queue": .text, "notEnded": .integer, "workers": .integer]),
            "partitions": .optional([
                "count": .integer, "primaries": .integer,
                "away": .list(["primary": .optional(.text), "partitions": .list(.integer), "reason": .text]),
            ]),
            "redis": .optional([
                "version": .optional(.text), "usedMemoryBytes": .optional(.integer), "maxMemoryBytes": .optional(.integer),
                "pingMilliseconds": .number,
            ]),
        ]

    private static let worker: AnswerShape = [
        "id": .text, "host": .optional(.text), "pid": .optional(.integer), "version": .optional(.text), "concurrency": .optional(.integer),
        "active": .optional(.integer), "heartbeatSeconds": .optional(.number),
        "state": .optional(.word(WorkerStatus.State.allCases.map(\.rawValue))),
    ]

    private static let host: AnswerShape = [
        "name": .text, "inFlight": .integer, "limit": .optional(.integer), "endedPerSecond": .number, "failureShare": .number,
        "averageSeconds": .optional(.number), "longestSeconds": .optional(.number), "restSeconds": .optional(.number), "givenUp": .flag,
    ]

    private static let silentHost: AnswerShape = [
        "host": .text, "state": .word(WaitingHost.State.allCases.map(\.rawValue)), "failures": .integer, "class": .optional(.text),
        "nextRequestSeconds": .optional(.number), "silentSeconds": .optional(.number), "givenUpWithinSeconds": .optional(.number),
    ]

    static let history = ofQueue + ["stepSeconds": .number, "throughput": .list(.optional(.number)), "depth": .list(.optional(.number))]

    private static let phases: AnswerShape = [
        "redirectsSeconds": .number, "lookUpSeconds": .number, "connectSeconds": .number, "tlsSeconds": .number,
        "firstByteSeconds": .number, "transferSeconds": .number,
    ]

    static let explanation: AnswerShape = [
        "schema": .integer, "url": .text, "id": .text, "headers": .list(.text), "cached": .flag,
        "outcome": .optional([
            "failed": .flag, "fresh": .flag, "ageSeconds": .number, "freshForSeconds": .number, "tookSeconds": .number,
            "phases": .optional(phases),
            "httpStatus": .optional(.integer), "bytes": .optional(.integer), "sha256": .optional(.text), "contentType": .optional(.text),
            "file": .optional(.text), "optOut": .optional(.text), "error": .optional(["class": .text, "message": .text]),
        ]),
        "holder": .optional(["kind": .text, "queue": .optional(.text), "seconds": .number, "leaseSeconds": .number]),
        "waitingJobs": .integer, "waitingCallers": .integer,
        "host": [
            "name": .text, "inFlight": .integer, "coolDownSeconds": .optional(.number), "nextStartSeconds": .optional(.number),
            "connectFailures": .integer, "probing": .flag, "givenUp": .flag, "paceSeconds": .optional(.number),
            "limit": .optional(.integer),
            "intervalSeconds": .optional(.number), "pauseSeconds": .optional(.number), "rule": .optional(.text),
        ],
    ]

    private static let batchMembers: AnswerShape =
        [
            "batch": .text, "state": .text, "priority": .word(Priority.allCases.map(\.rawValue)), "refresh": .flag,
            "maxAgeSeconds": .optional(.number), "headers": .list(.text), "robots": .word(Manners.Robots.allCases.map(\.rawValue)),
            "optOuts": .word(Manners.OptOuts.allCases.map(\.rawValue)), "keepsWire": .flag, "cache": .flag, "traceID": .optional(.text),
            "ageSeconds": .optional(.number),
            "progress": .optional(.number),
        ] + .integers("total", "done", "failed", "disallowed", "cancelled", "ready", "active", "parked", "delayed", "lostPartitions")

    static let batch = ofQueue + batchMembers

    static let batches = ofQueue + ["batches": .list(batchMembers), "total": .integer]

    private static let job: AnswerShape = [
        "state": .word(JobState.allCases.map(\.rawValue)), "id": .text, "url": .text, "host": .text, "batch": .optional(.text),
        "ageSeconds": .optional(.number),
        "activeSeconds": .optional(.number), "dueInSeconds": .optional(.number), "deadSeconds": .optional(.number), "failures": .integer,
        "crashes": .integer, "httpStatus": .optional(.integer), "error": .optional(["class": .text, "message": .optional(.text)]),
        "phases": .optional(phases),
    ]

    static let jobs = ofQueue + ["state": .word(JobState.allCases.map(\.rawValue)), "jobs": .list(job), "cursor": .optional(.text)]

    static let count = ofQueue + ["state": .word(JobState.allCases.map(\.rawValue)), "count": .integer, "atLeast": .flag]

    static let deadHosts = ofQueue + ["hosts": .list(["host": .text, "class": .text, "count": .integer]), "atLeast": .flag]

    static let sweep =
        ofQueue + ["state": .text, "change": .word(["retried", "deleted"]), "count": .integer, "stuck": .integer]

    static let accepted =
        ofQueue + [
            "batch": .optional(.text), "accepted": .integer, "invalid": .integer,
            "complaints": .list(["place": .text, "reason": .text]),
        ]

    static let pause = ofQueue + ["wasPaused": .flag]

    private static let ruleMembers: AnswerShape = [
        "host": .text, "limit": .optional(.integer), "intervalSeconds": .optional(.number), "pauseSeconds": .optional(.number),
    ]

    static let rule: AnswerShape = ["schema": .integer] + ruleMembers

    static let rules: AnswerShape = ["schema": .integer, "rules": .list(ruleMembers)]

    static let cleared: AnswerShape = ["schema": .integer, "host": .text, "cleared": .flag]
}
