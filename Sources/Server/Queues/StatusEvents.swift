internal import GannetBase
internal import GannetQueue

/// A queue's status as a stream of server-sent events. It ends with its client or with the gateway, and says so then.
struct StatusEvents: Sendable {
    let queue: FetchQueue
    let access: QueueAccess

    private static let interval = Duration.seconds(1)
    /// Proxies end connections that are silent for longer.
    private static let longestSilence = 15

    var answer: HTTPServiceAnswer {
        var answer = HTTPServiceAnswer(
            headers: [(name: "Content-Type", value: "text/event-stream"), (name: "Cache-Control", value: "no-store")],
            body: .stream(length: nil) { stream in
                var last: QueueLook?
                var silent = 0
                while !access.end.hasCome {
                    let next = await access.looks.look(at: queue)
                    if next != last {
                        last = next
                        silent = 0
                        try await stream.write(Array("event: \(next.name)\ndata: \(next.data(of: queue))\n\n".utf8))
                    } else if silent >= Self.longestSilence {
                        silent = 0
                        try await stream.write(Array(": still here\n\n".utf8))
                    }
                    silent += 1
                    try await access.end.sleep(for: Self.interval)
                }
                try await stream.write(Array("event: ending\ndata: {}\n\n".utf8))
            })
        answer.isEndless = true
        return answer
    }
}
