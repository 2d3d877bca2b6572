internal import ClusterState
internal import Gannet
internal import GannetBasics
internal import HTTPService

/// A queue's status as a stream of server-sent events. It ends with its client or with the gateway.
struct StatusEvents: Sendable {
    let queue: FetchQueue
    let access: QueueAccess

    private static let interval = Duration.seconds(1)
    /// Proxies end connections that are silent for longer.
    private static let longestSilence = 15

    var answer: HTTPServiceAnswer {
        HTTPServiceAnswer(
            headers: [(name: "Content-Type", value: "text/event-stream"), (name: "Cache-Control", value: "no-store")],
            body: .stream(length: nil) { stream in
                var last: Look?
                var silent = 0
                while !access.isEnding.isSet {
                    let next = await look()
                    if next != last {
                        last = next
                        silent = 0
                        try await stream.write(Array("event: \(next.name)\ndata: \(next.data(of: queue))\n\n".utf8))
                    } else if silent >= Self.longestSilence {
                        silent = 0
                        try await stream.write(Array(": still here\n\n".utf8))
                    }
                    silent += 1
                    try await Task.sleep(for: Self.interval)
                }
            })
    }

    private func look() async -> Look {
        if let away = access.away { return .problem(away.detail) }
        do { return .status(try await queue.overview()) } catch { return .problem("\(error)") }
    }
}

/// A look at a queue, and the news of an event. Looks that differ in times alone are equal: a queue in which nothing happens has no news.
private enum Look: Equatable {
    case status(QueueOverview)
    case problem(String)

    var name: String {
        switch self {
        case .status: "status"
        case .problem: "problem"
        }
    }

    func data(of queue: FetchQueue) -> String {
        switch self {
        case .status(let overview): overview.json(queue.name, nil).text
        case .problem(let detail): JSONValue.object([("class", "redis"), ("detail", .string(detail))]).text
        }
    }

    static func == (one: Look, other: Look) -> Bool {
        switch (one, other) {
        case (.status(let one), .status(let other)): one.hasSameNews(as: other)
        case (.problem(let one), .problem(let other)): one == other
        default: false
        }
    }
}

extension QueueOverview {
    fileprivate func hasSameNews(as other: QueueOverview) -> Bool {
        counts == other.counts && waits == other.waits && standings == other.standings && others == other.others
            && oldestReady == other.oldestReady && rate == other.rate && workerStates == other.workerStates
    }

    private var workerStates: [String: WorkerStatus.State?] {
        Dictionary(workers.map { ($0.id, $0.state(at: now)) }) { first, _ in first }
    }
}
