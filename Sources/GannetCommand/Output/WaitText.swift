import ClusterState

/// The reason of a wait whose end cannot be told.
enum WaitText {
    /// `902 wait for 12 hosts that rest or are busy, 30 for their next attempt`; `nil` while most open jobs only wait for a place.
    static func sentence(_ waits: QueueWaits, of open: Int) -> String? {
        guard waits.total > 0, waits.total >= open - waits.total else { return nil }
        var parts: [String] = []
        if waits.held > 0 {
            let one = waits.hosts == 1
            parts.append("\(wait(waits.held)) for \(Amounts.count(waits.hosts, "host")) that \(one ? "rests or is" : "rest or are") busy")
        }
        if waits.delayed > 0 {
            parts.append(
                "\(waits.held > 0 ? "\(waits.delayed)" : wait(waits.delayed)) for \(waits.delayed == 1 ? "its" : "their") next attempt")
        }
        return parts.joined(separator: ", ")
    }

    private static func wait(_ count: Int) -> String { "\(count) \(count == 1 ? "waits" : "wait")" }
}
