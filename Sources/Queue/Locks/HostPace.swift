internal import GannetBase
internal import GannetRedisClient

/// The least time between the starts of two requests at a host, as a site or its slow answers ask for it.
///
/// It is a step of a scale, because the record of a host has six bits for it: 62.5 ms, and an eighth more with each step. All workers of the
/// fleet keep it. An operator's rule outranks it.
package struct HostPace: Sendable, Hashable {
    /// From 0, for none, to 63.
    package let step: Int

    package static let none = HostPace(step: 0)
    /// A site that asks for a longer pause gets about this one.
    package static let longest = Duration.seconds(60)

    private static let first = 62.5
    private static let inOctave = 6.0
    private static let steps = 0...63

    init(step: Int) { self.step = min(max(step, Self.steps.lowerBound), Self.steps.upperBound) }

    /// The first step that is not shorter than the time, or than the longest time.
    package init(atLeast time: Duration) {
        let milliseconds = min(time, Self.longest) / .milliseconds(1)
        guard milliseconds > 0 else {
            self = .none
            return
        }
        self.init(step: 1 + max(0, Int((log2(milliseconds / Self.first) * Self.inOctave).rounded(.up))))
    }

    package var interval: Duration {
        step == 0 ? .zero : .milliseconds(Int(Self.first * pow(2, Double(step - 1) / Self.inOctave)))
    }
}

extension FetchQueue {
    /// Sets the pace of a host.
    /// - Parameter starts: A request that has its place at the host asks whether it may start by that pace. A repeated call may make it wait.
    /// - Returns: Queue time, ms; the pace that the host had before; and the time until a request may start. That time is zero where the request
    ///   that asked has started.
    package func set(
        _ pace: HostPace, of host: String, starts: Bool
    ) async throws(StateError) -> (now: Int, before: HostPace, wait: Duration) {
        try await persistently {
            let reply = try await cluster.run(
                cluster.scripts.pace, in: cluster.partition(of: host),
                [.string(host), .integer(pace.step), .integer(starts ? 1 : 0)])
            let fields = try reply.fields(3, of: "pace")
            return (try fields[0].asNumber(), HostPace(step: try fields[1].asInteger()), .milliseconds(try fields[2].asInteger()))
        }
    }
}
