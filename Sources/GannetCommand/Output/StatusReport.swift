import Gannet

/// A queue's status as people and as scripts read it. The names in the JSON are a contract; what is unknown is `null`.
struct StatusReport: Sendable {
    let name: String
    let queue: QueueStatus
    let server: ServerStatus

    var text: String {
        let rows = [
            ("queue", name),
            ("ready", String(queue.ready)),
            ("active", String(queue.active)),
            ("fetched", "\(queue.fetched) (\(Amounts.bytes(queue.bytes)))"),
            ("failed", String(queue.failed)),
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
            "paused": false,
            "jobs": ["ready": .integer(queue.ready), "active": .integer(queue.active), "parked": 0, "delayed": 0, "dead": 0],
            "oldestReadySeconds": nil,
            "totals": [
                "enqueued": .integer(queue.enqueued), "done": .integer(queue.fetched), "fetched": .integer(queue.fetched),
                "revalidated": 0, "cached": 0, "failed": .integer(queue.failed), "cancelled": 0, "retried": 0,
                "crashed": .integer(queue.crashed), "fenced": nil, "doubleFetches": nil, "bytes": .integer(queue.bytes),
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
