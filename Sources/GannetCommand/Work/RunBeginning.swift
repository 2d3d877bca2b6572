import Gannet

/// Finds out whether a run goes on with an interrupted one, and makes its queue ready for it.
struct RunBeginning: Sendable {
    let identity: RunIdentity
    let cluster: Cluster
    let console: Console

    /// What the interrupted run had come to.
    struct Before: Sendable {
        let done: Int
        let fetched: Int
        let failed: Int
    }

    /// `.some(nil)` for a run that begins anew: what an interrupted run left is only of use to a run of the same list.
    func make() async throws(ClusterError) -> Before? {
        let source = identity.source ?? "standard input \(UInt64.random(in: .min ... .max))"
        let isSame = try await cluster.begin(batch: RunIdentity.batch, of: identity.queue, from: source)
        let left = try await cluster.status(of: identity.queue)
        // The queue is this run's own, and the folder's lock says that nobody else is this run: whoever held a lease is gone. To start
        // over too: the URLs it had locked would stay so until the leases end.
        if left.active > 0 { try await cluster.reclaimAll(in: identity.queue) }
        if isSame {
            guard left.enqueued > 0 else { return nil }
            console.note("going on with an interrupted run: \(left.done) of \(left.enqueued) are fetched.")
            return Before(done: left.done, fetched: left.fetched, failed: left.failed)
        }
        if left.enqueued > 0 {
            let reason =
                identity.source == nil
                ? "standard input cannot be read again" : "the list is not the one of the interrupted run in this folder"
            console.note("\(reason): starting over.")
        }
        try await cluster.clear(queue: identity.queue)
        _ = try await cluster.begin(batch: RunIdentity.batch, of: identity.queue, from: source)
        return nil
    }
}
