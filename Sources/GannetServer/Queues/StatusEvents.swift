internal import ClusterState
internal import Gannet
internal import GannetBasics
internal import HTTPService

/// A queue's status as a stream of server-sent events. It ends with its client.
struct StatusEvents: Sendable {
    let queue: FetchQueue

    private static let interval = Duration.seconds(1)
    /// Proxies end connections that are silent for longer.
    private static let longestSilence = 15

    var answer: HTTPServiceAnswer {
        HTTPServiceAnswer(
            headers: [(name: "Content-Type", value: "text/event-stream"), (name: "Cache-Control", value: "no-store")],
            body: .stream(length: nil) { stream in
                var last = ""
                var silent = 0
                while true {
                    let next = await look()
                    if next.name != "status" || next.data != last {
                        last = next.name == "status" ? next.data : ""
                        silent = 0
                        try await stream.write(Array("event: \(next.name)\ndata: \(next.data)\n\n".utf8))
                    } else if silent >= Self.longestSilence {
                        silent = 0
                        try await stream.write(Array(": still here\n\n".utf8))
                    }
                    silent += 1
                    try await Task.sleep(for: Self.interval)
                }
            })
    }

    private func look() async -> (name: String, data: String) {
        do {
            return ("status", try await queue.overview().json(queue.name, nil).text)
        } catch {
            return ("problem", JSONValue.object([("class", "redis"), ("detail", .string("\(error)"))]).text)
        }
    }
}
