internal import GannetBase
internal import GannetQueue

/// The channels in Redis on which a process hears of URLs from the others.
///
/// A process that fetches a URL whose last caller has left asks those that have waited for it whether they still do.
final class TierInbox: Sendable {
    /// The name under which others reach this process.
    let process: String
    let freed = URLWaiters()
    private let replies = URLWaiters()
    /// How many callers want each URL from the tier.
    private let callers = Mutex<[URLID: Int]>([:])
    private let cluster: ClusterState

    /// The time for a reply. For a process that is slower the transfer ends, and it takes the lock itself.
    private static let patience = Duration.seconds(5)

    init(_ process: String, _ cluster: ClusterState) {
        self.process = process
        self.cluster = cluster
    }

    /// Handles messages until the subscription is closed.
    func listen(to subscription: RedisSubscription) async {
        for await event in subscription {
            switch event {
            case .message(_, let payload): await handle(payload)
            case .interrupted: freed.wakeAll()
            }
        }
    }

    private func handle(_ payload: [UInt8]) async {
        guard let message = TierMessage(payload) else { return }
        let id = message.id
        switch message.kind {
        case .freed: freed.wake(id)
        case .doYouWait: if callers.withLock({ $0[id] != nil }) { await send(TierMessage(.weWait, id), to: message.channel) }
        case .weWait: replies.wake(id)
        }
    }

    /// A caller of this process begins to want the URL from the tier. It ends with ``leave(_:)``.
    func join(_ id: URLID) { callers.withLock { $0[id, default: 0] += 1 } }

    func leave(_ id: URLID) {
        callers.withLock { callers in
            let count = (callers[id] ?? 1) - 1
            callers[id] = count > 0 ? count : nil
        }
    }

    /// Asks whether a caller waits for the URL behind one of these channels.
    func isWaitedFor(_ id: URLID, at channels: [String], in partition: Partition) async -> Bool {
        let number = replies.expect(id)
        var hears = 0
        let question = TierMessage(.doYouWait, id, cluster.inbox(of: process, in: partition))
        for channel in channels { hears += await send(question, to: channel) }
        guard hears > 0 else {
            replies.forget(number, id)
            return false
        }
        return await replies.wait(number, id, atMost: Self.patience)
    }

    /// - Returns: How many processes hear it.
    @discardableResult
    private func send(_ message: TierMessage, to channel: String) async -> Int {
        (try? await cluster.publish(message.bytes, to: channel)) ?? 0
    }
}
