import Gannet

/// A queue's status as people and as scripts read it. The names in the JSON are a contract; what is unknown is `null`.
struct StatusReport: Sendable {
    let name: String
    let queue: QueueStatus
    let server: ServerStatus

    var text: String {
        let rows = [
            ("queue", name + (queue.isPaused ? " (paused)" : "")),
            ("ready", String(queue.ready)),
            ("active", String(queue.active)),
            ("parked", String(queue.parked)),
            ("delayed", String(queue.delayed)),
            ("done", "\(queue.done) (\(queue.fetched) fetched, \(queue.cached) cached; \(Amounts.bytes(queue.bytes)))"),
            ("failed", String(queue.failed)),
            ("dead", String(queue.dead)),
            ("crashed", String(queue.crashed)),
            ("enqueued", String(queue.enqueued)),
            ("redis", "\(server.version ?? "unknown version"), \(server.usedMemory.map(Amounts.bytes) ?? "unknown memory") used"),
        ]
        return rows.map { $0.0 + String(repeating: " ", count: 10 - $0.0.count) + $0.1 }.joined(separator: "\n")
    }

    var json: JSONValue {
        [
            "schema": 1,
            "queue": .string(name),
            "paused": .bool(queue.isPaused),
            "jobs": [
                "ready": .integer(queue.ready), "active": .integer(queue.active), "parked": .integer(queue.parked),
                "delayed": .integer(queue.delayed), "dead": .integer(queue.dead),
            ],
            "oldestReadySeconds": nil,
            "totals": [
                "enqueued": .integer(queue.enqueued), "done": .integer(queue.done), "fetched": .integer(queue.fetched),
                "revalidated": .integer(queue.revalidated), "cached": .integer(queue.cached), "failed": .integer(queue.failed),
                "cancelled": .integer(queue.cancelled), "retried": .integer(queue.retried), "crashed": .integer(queue.crashed),
                "fenced": .integer(queue.fenced), "doubleFetches": .integer(queue.doubleFetches), "bytes": .integer(queue.bytes),
            ],
            "rate": ["donePerSecond": nil, "bytesPerSecond": nil],
            "etaSeconds": nil,
            "workers": nil,
            "redis": [
                "version": JSONValue(server.version), "usedMemoryBytes": JSONValue(server.usedMemory),
                "maxMemoryBytes": JSONValue(server.memoryLimit), "pingMilliseconds": .decimal(server.ping / .milliseconds(1)),
            ],
        ]
    }
}
