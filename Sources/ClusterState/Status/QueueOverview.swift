/// What a queue looks like at one moment, and how it came to that.
package struct QueueOverview: Sendable, Equatable {
    /// Queue time, ms, in which all other moments are told too.
    package let now: Int
    package let counts: QueueCounts

    /// When the oldest of the jobs that wait was enqueued, as far as the heads of the lines tell.
    package let oldestReady: Int?

    /// Of the last quarter of an hour, as far as there were workers in it; the oldest first.
    package let history: [QueueSample]

    /// Those heard of lately; the last that was heard first.
    package let workers: [WorkerBeat]

    /// Others of the namespace that had workers lately; the last that was heard of first, and eight at most.
    package let others: [OtherQueue]

    package let held: HeldJobs

    /// Requests in flight at the hosts that workers tell most of, of the whole fleet and now: what workers tell is as old as their heartbeats.
    package let running: [String: Int]

    package init(
        now: Int, counts: QueueCounts, oldestReady: Int?, history: [QueueSample], workers: [WorkerBeat], others: [OtherQueue] = [],
        held: HeldJobs = .init(), running: [String: Int] = [:]
    ) {
        self.now = now
        self.counts = counts
        self.oldestReady = oldestReady
        self.history = history
        self.workers = workers
        self.others = others
        self.held = held
        self.running = running
    }
}

/// A queue beside the one that somebody looks at.
package struct OtherQueue: Sendable, Equatable {
    package let name: String

    /// Jobs that have not ended.
    package let open: Int

    /// Those heard of in the last seconds; a hundred stands for more, too.
    package let workers: Int

    package init(name: String, open: Int, workers: Int) {
        self.name = name
        self.open = open
        self.workers = workers
    }
}

/// How far a queue had come at a moment.
package struct QueueSample: Sendable, Equatable {
    package let time: Int
    package let done: Int
    package let failed: Int
    package let bytes: Int

    /// Jobs that had not ended.
    package let open: Int

    package init(time: Int, done: Int, failed: Int, bytes: Int, open: Int) {
        self.time = time
        self.done = done
        self.failed = failed
        self.bytes = bytes
        self.open = open
    }

    /// `nil` for what is in another form than expected.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let time = reader.number(6), let done = reader.number(6), let failed = reader.number(6), let count = reader.number(6),
            let open = reader.number(6)
        else { return nil }
        self.init(time: time, done: done, failed: failed, bytes: count, open: open)
    }
}

/// A worker, when it was heard last, and what it said.
package struct WorkerBeat: Sendable, Equatable {
    package let worker: String
    package let time: Int

    /// `nil` where a newer version wrote it.
    package let record: WorkerRecord?
}

/// Jobs that are ready and wait for their hosts, which rest or have no room.
package struct HeldJobs: Sendable, Equatable {
    package let jobs: Int
    package let hosts: Int

    package init(jobs: Int = 0, hosts: Int = 0) {
        self.jobs = jobs
        self.hosts = hosts
    }
}

/// Jobs of a queue: all that were accepted, those of them that have ended, and those that nobody can take now.
package struct QueueProgress: Sendable, Equatable {
    package let accepted: Int
    package let ended: Int
    package let delayed: Int
    package let held: HeldJobs
}
