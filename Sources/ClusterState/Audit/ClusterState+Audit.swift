/// Looking for drift: what a server that lost data, or somebody who wrote to its keys, may have left.
extension ClusterState {
    /// Looks over the whole namespace and, when asked to, mends what is not as it should be.
    ///
    /// It may run beside workers, and as often as one likes: each look is one short script that sees and mends in the same step. What
    /// is under way while it looks may be missed, never mistaken.
    /// - Returns: What was found, the same kind in one finding.
    package func audit(mend: Bool) async throws(StateError) -> [AuditFinding] {
        var audit = Audit(state: self, mends: mend)
        try await audit.run()
        return audit.findings
    }
}
