internal import GannetBase
package import GannetQueue

/// A queue's status as programs read it: `status --json`, `/v1/status` and its events.
package struct QueueStatus: Sendable {
    let name: String
    let overview: QueueOverview
    /// The Redis, where it was asked as well.
    let server: ServerStatus?

    package init(_ name: String, _ overview: QueueOverview, _ server: ServerStatus?) {
        (self.name, self.overview, self.server) = (name, overview, server)
    }

    package static let fields = Fields<QueueStatus>([
        .integer("schema") { _ in 1 },
        .text("queue", \.name),
        .flag("paused", \.overview.counts.isPaused),
        .object("jobs", Fields<QueueOverview>(counts(in: .jobs)), \.overview),
        .seconds("oldestReadySeconds", ifKnown: \.overview.oldestAge),
        .object("totals", totals, \.overview),
        .object("rate", rate, \.overview.rate),
        .seconds("etaSeconds", ifKnown: \.overview.remaining),
        .object("waits", waits, \.overview.waits),
        .list("heldBatches", Fields<HoldingBatch>([.text("queue", \.queue), .text("batch", \.batch)]), \.overview.holding),
        .list("failures", failure, \.overview.failures.sorted),
        .list("workers", WorkerStatus.inStatus, \.overview.workers.byMachine),
        .list("hosts", host, \.overview.hosts),
        .list("otherQueues", otherQueue, \.overview.others),
        .object("partitions", partitions, ifKnown: \.overview.partitions),
        .object("redis", redis, ifKnown: \.server),
    ])

    private static func counts(in place: QueueCount.Place) -> [Fields<QueueOverview>.Field] {
        QueueCount.all.filter { $0.place == place }.map { count in .integer(count.name) { $0.counts[keyPath: count.path] } }
    }

    /// Of `failed`, so many are `disallowed`.
    private static let totals = Fields<QueueOverview>(
        counts(in: .totals) + [.integer("disallowed", \.failures.notPermitted)])

    private static let rate = Fields<QueueRate?>([
        .rounded("donePerSecond", ifKnown: { $0?.donePerSecond }), .rounded("bytesPerSecond", ifKnown: { $0?.bytesPerSecond }),
    ])

    private static let waits = Fields<QueueWaits>([
        .integer("held", \.held), .integer("hosts", \.hosts), .integer("delayed", \.delayed),
        .list("silentHosts", WaitingHost.inStatus) { waits in
            (waits.silent + waits.paced).map { host -> WaitingHost in
                var host = host
                host.givenUpWithin = waits.givenUpWithin(host)
                return host
            }
        },
        .seconds("givenUpWithinSeconds", ifKnown: \.givenUpWithin),
    ])

    private static let failure = Fields<(errorClass: String, count: Int)>([
        .text("class") { $0.errorClass }, .integer("count") { $0.count },
    ])

    private static let host = Fields<HostStatus>([
        .text("name", \.name), .integer("inFlight", \.running), .integer("limit", ifKnown: \.limit),
        .rounded("endedPerSecond", \.endedPerSecond), .rounded("failureShare", \.failureShare),
        .seconds("averageSeconds", ifKnown: \.average), .seconds("longestSeconds", ifKnown: { $0.running > 0 ? $0.longest : nil }),
        .seconds("restSeconds", ifKnown: \.rest), .flag("givenUp", \.isGivenUp),
    ])

    private static let otherQueue = Fields<OtherQueue>([
        .text("queue", \.name), .integer("notEnded", \.open), .integer("workers", \.workers),
    ])

    private static let partitions = Fields<PartitionOverview>([
        .integer("count", \.count), .integer("primaries", \.primaries),
        .list(
            "away",
            Fields<PartitionOverview.Away>([
                .text("primary", ifKnown: \.primary), .integers("partitions", \.partitions), .text("reason", \.sentence),
            ]), \.away),
    ])

    private static let redis = Fields<ServerStatus>([
        .text("version", ifKnown: \.version), .integer("usedMemoryBytes", ifKnown: \.usedMemory),
        .integer("maxMemoryBytes", ifKnown: { $0.memoryLimit == 0 ? nil : $0.memoryLimit }),
        .number("pingMilliseconds") { $0.ping / .milliseconds(1) },
    ])
}

extension WorkerStatus {
    fileprivate static let inStatus = Fields<WorkerStatus>([
        .text("id", \.id), .text("host", ifKnown: \.record?.machine), .integer("pid", ifKnown: \.record?.processID),
        .text("version", ifKnown: \.record?.version), .integer("concurrency", ifKnown: \.record?.concurrency),
        .word("concurrencyBound", ifKnown: \.record?.bound), .integer("active", ifKnown: \.record?.active),
        .seconds("heartbeatSeconds", ifKnown: \.heartbeat),
        .word("state", ifKnown: \.state),
    ])

    /// In a list of workers, with everything that its record has.
    package static let fields = Fields<WorkerStatus>([
        .text("id", \.id), .text("host", ifKnown: \.record?.machine),
        .integer("pid", ifKnown: \.record?.processID), .text("version", ifKnown: \.record?.version),
        .seconds("ageSeconds", ifKnown: \.age), .seconds("heartbeatSeconds", ifKnown: \.heartbeat),
        .integer("concurrency", ifKnown: \.record?.concurrency),
        .word("concurrencyBound", ifKnown: \.record?.bound), .integer("active", ifKnown: \.record?.active),
        .rounded("endedPerSecond", ifKnown: \.record?.endedPerSecond),
        .integers("partitions", ifKnown: \.record?.partitions), .flag("draining", \.isDraining),
        .word("state", ifKnown: \.state),
    ])
}

extension WaitingHost {
    fileprivate static let inStatus = Fields<WaitingHost>([
        .text("host", \.name), .word("state", \.state), .integer("failures", \.failures), .text("class", ifKnown: \.errorClass),
        .seconds("nextRequestSeconds", ifKnown: { $0.isGivenUp ? nil : $0.rest }), .seconds("silentSeconds", ifKnown: \.since),
        .seconds("paceSeconds", ifKnown: \.pace), .integer("jobs", ifKnown: \.jobs),
        .seconds("givenUpWithinSeconds", ifKnown: \.givenUpWithin),
    ])

    /// In the list of all hosts for which jobs wait.
    package static let fields = inStatus + Fields<WaitingHost>([.text("message", ifKnown: \.reason)])
}
