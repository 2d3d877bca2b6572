internal import GannetBase

/// The times of a transfer's last hop, as its parts report them.
struct HopTimes {
    /// From the transfer's start to the hop's.
    var earlier = Duration.zero
    /// Of the look-up; nil where it had not ended.
    var lookUp: Duration?
    /// From the hop's start until libcurl had it; nil before.
    var begun: Duration?
    /// From the hop's start until now.
    var total = Duration.zero
    var isSecure = false
    /// libcurl's times since it had the hop; zero for a step that was not reached.
    var connected = Duration.zero
    var handshaken = Duration.zero
    var requested = Duration.zero
    var answered = Duration.zero

    var phases: PhaseTimes {
        var phases = PhaseTimes()
        phases.redirects = Self.milliseconds(earlier)
        phases.lookUp = Self.milliseconds(lookUp ?? total)
        guard let lookUp, let begun else { return phases }
        let left = max(.zero, total - begun)
        // Under TLS a transfer may have waited for others that open connections to the origin.
        let waited = max(.zero, begun - lookUp)
        guard requested > .zero else {
            let isConnected = isSecure && connected > .zero
            phases.connect = Self.milliseconds(waited + (isConnected ? connected : left))
            phases.handshake = isConnected ? Self.milliseconds(left - connected) : 0
            return phases
        }
        phases.connect = Self.milliseconds(waited + min(connected, requested))
        phases.handshake = handshaken > connected ? Self.milliseconds(handshaken - connected) : 0
        phases.firstByte = Self.milliseconds((answered > .zero ? answered : left) - requested)
        phases.transfer = answered > .zero ? Self.milliseconds(left - answered) : 0
        return phases
    }

    private static func milliseconds(_ duration: Duration) -> UInt32 { UInt32(clamping: Int((duration / .milliseconds(1)).rounded())) }
}
