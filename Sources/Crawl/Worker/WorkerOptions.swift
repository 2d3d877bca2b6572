internal import GannetBase
package import GannetHTTP
package import GannetQueue
package import GannetRedis

/// How many requests a worker makes, when it retries, and when it ends.
package struct WorkerOptions: Sendable {
    /// Requests in flight at once; where the worker adapts their number, the most that it ever has.
    package var concurrency = 512

    /// The worker has as many requests in flight as its process keeps up with.
    package var adaptsConcurrency = false

    /// Requests in flight at once at one host, from all workers together.
    package var hostLimit = 8

    /// How many of them a host has before it answers. Each answer doubles them.
    package var hostFirst = 1

    /// The least time between the starts of two requests at one host, from all workers together.
    package var hostInterval = Duration.zero

    /// A host gets, on average, no more than one request at a time: its pace follows the time that its answers take.
    package var adaptsPace = false

    /// When a failed attempt is repeated, and when its job is given up.
    package var retryPolicy = RetryPolicy()

    /// How long a worker counts as alive after an exchange.
    package var lease = Duration.seconds(30)

    /// How long a request may hold its URL, whatever its worker's lease. The worker cancels a transfer before that.
    package var longestHold = Duration.seconds(3600)

    /// How long jobs in flight may go on after a stop was asked for.
    package var drainTimeout = Duration.seconds(25)

    /// How long handing jobs back may take. After that, the jobs come back when their leases end.
    package var handBackTimeout = Duration.seconds(5)

    /// How often a worker looks for jobs while none are announced.
    package var idleLook = Duration.seconds(5)

    /// The pauses before looks for jobs that are due at once. Of many idle workers one comes first, and goes on so. The others look less and
    /// less often, until they hear of jobs.
    var visitPauses = Backoff(first: .milliseconds(5), longest: .seconds(1))

    /// When an origin that answered without a robots.txt that can be read is asked for it again.
    package var sitePause = Duration.seconds(2)

    /// How long Redis may be away before the worker gives up.
    package var outagePatience = Duration.seconds(300)

    /// How long Redis may be silent before people are told that the worker waits for it. A command is given up later than that.
    var silencePatience: Duration { min(.seconds(2), lease / 3) }

    /// How often a worker tells Redis that it is alive.
    package var heartbeat = Duration.seconds(5)

    /// The program's version, for `status`.
    package var version = ""

    /// For how long answers are used if their origins do not say it.
    ///
    /// Such a URL is not fetched again if it is enqueued again within the hour, because many lists repeat each other's URLs. A batch can
    /// ask for fresh answers.
    package var freshness = FreshnessPolicy {
        $0.heuristicMinimum = .seconds(3600)
        $0.heuristicForImages = .zero
        $0.failures = .brief
    }

    /// Tell origins the trace that a batch belongs to. Each request is a part of its own in that trace.
    package var sendsTrace = false

    /// End when no job waits and no job is in flight at any worker, instead of waiting for more jobs.
    package var endsWhenEmpty = false

    package init() {}

    /// How many requests a worker that adapts their number has at first, and at most.
    package static let placesAtFirst = Places.atFirst
    package static let mostPlaces = 4096
}

extension WorkerOptions {
    /// The politeness towards hosts for which no rule is stored.
    package var hostRule: HostRule { HostRule(limit: hostLimit, interval: hostInterval, first: hostFirst) }
}
