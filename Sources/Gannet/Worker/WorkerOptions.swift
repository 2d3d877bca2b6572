package import ClusterState
package import HTTPCaching

/// How a worker goes about its work.
package struct WorkerOptions: Sendable {
    /// Requests in flight at once.
    package var concurrency = 64

    /// Requests in flight at once at one host, from all workers together.
    package var hostLimit = 8

    /// From the start of one request at a host to that of the next, whichever workers make them.
    package var hostInterval = Duration.zero

    /// What becomes of attempts that fail.
    package var retryPolicy = RetryPolicy()

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

    /// How often a worker says that it lives.
    package var heartbeat = Duration.seconds(5)

    /// The program's, for onlookers.
    package var version = ""

    /// For how long answers are believed where origins leave it open.
    ///
    /// Where they say nothing, a URL that is enqueued again within the hour is not asked for again: lists repeat each other, and who wants it anew says so.
    package var freshness = FreshnessPolicy { $0.heuristicMinimum = .seconds(3600) }

    /// Outcomes are known for at least this long, whatever an origin says of theirs: to jobs that were enqueued before, and to
    /// whoever comes for what was fetched.
    package var outcomesKept = Duration.seconds(24 * 3600)

    /// Origins are told of the traces that batches are a part of, each request being a part of its own.
    package var sendsTrace = false

    /// End when nothing waits and nothing is in flight anywhere, instead of waiting for more.
    package var endsWhenEmpty = false

    package init() {}
}

extension WorkerOptions {
    /// Attempts after the first before a URL is given up.
    package var retries: Int {
        get { retryPolicy.retries }
        set { retryPolicy.retries = newValue }
    }

    /// For how long a host may put a URL off before that is given up.
    package var giveUpAfter: Duration {
        get { retryPolicy.giveUpAfter }
        set { retryPolicy.giveUpAfter = newValue }
    }

    /// How long a host may take no connection before its jobs are given up; zero for ever.
    package var hostPatience: Duration {
        get { retryPolicy.hostPatience }
        set { retryPolicy.hostPatience = newValue }
    }

    package var hostRule: HostRule { HostRule(limit: hostLimit, interval: hostInterval) }
}
