/// How a worker goes about its work.
package struct WorkerOptions: Sendable {
    /// Requests in flight at once.
    package var concurrency = 64

    /// How long a job stays ours without a word from us.
    package var lease = Duration.seconds(30)

    /// How long jobs in flight may go on once a stop has been asked for.
    package var drainTimeout = Duration.seconds(25)

    /// How long handing jobs back may take before they are left to the end of their leases.
    package var handBackTimeout = Duration.seconds(5)

    /// How often a worker that has heard of nothing looks for itself.
    package var idleLook = Duration.seconds(5)

    /// How long Redis may be away before the worker gives up.
    package var outagePatience = Duration.seconds(300)

    /// End when nothing waits and nothing is in flight anywhere, instead of waiting for more.
    package var endsWhenEmpty = false

    package init() {}
}
