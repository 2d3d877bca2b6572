/// What the namespace knows, beyond this queue.
extension FetchQueue {
    /// All that is known of a URL and its host.
    package func explain(_ id: URLID, host: String) async throws(StateError) -> Explanation {
        try await persistently { () throws(StateError) in try await cluster.explain(id, host: host) }
    }

    /// Looks for drift, and mends it where that is asked for.
    package func audit(mend: Bool) async throws(StateError) -> [AuditFinding] { try await cluster.audit(mend: mend) }
}
