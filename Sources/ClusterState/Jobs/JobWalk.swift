/// Lists and counts jobs without changing them.
extension FetchQueue {
    /// The next selected jobs from a cursor on, `limit` at most.
    package func jobs(_ selection: JobSelection, from cursor: JobCursor = JobCursor(), limit: Int) async throws(StateError) -> JobListing {
        try await persistently {
            var walk = JobWalk(queue: self, selection: selection, cursor: cursor, isCounting: false)
            var jobs: [ListedJob] = []
            while jobs.count < limit, !walk.isAtEnd { jobs += try await walk.look(limit: limit - jobs.count).jobs }
            return JobListing(jobs: jobs, now: try await cluster.now(), next: walk.isAtEnd ? nil : walk.cursor)
        }
    }

    /// How many jobs are selected, `limit` at most.
    package func count(_ selection: JobSelection, limit: Int = .max) async throws(StateError) -> Int {
        try await persistently {
            var walk = JobWalk(queue: self, selection: selection, cursor: JobCursor(), isCounting: true)
            let limit = min(limit, Self.mostJobs)
            var count = 0
            while count < limit, !walk.isAtEnd { count += try await walk.look(limit: limit - count).count }
            return min(count, limit)
        }
    }
}

/// Goes through all lists and sets that hold the jobs of a state.
struct JobWalk {
    private let queue: FetchQueue
    private let selection: JobSelection
    private let isCounting: Bool
    private(set) var cursor: JobCursor
    private(set) var isAtEnd = false
    private var lists: [JobList]?

    init(queue: FetchQueue, selection: JobSelection, cursor: JobCursor, isCounting: Bool) {
        self.queue = queue
        self.selection = selection
        self.cursor = cursor
        self.isCounting = isCounting
    }

    /// Looks at the next part, which may be empty without being the last.
    mutating func look(limit: Int) async throws -> (jobs: [ListedJob], count: Int) {
        let position = Int(clamping: cursor.position)
        switch selection.state {
        case .ready, .parked: return try await lookAtLists(limit: limit)
        case .delayed:
            let look = try await queue.lookAtDelayed(from: position, selection.filter, limit: limit, counting: isCounting)
            move(to: look.next)
            return (look.jobs, look.count)
        case .dead:
            let look = try await queue.lookAtDead(from: position, selection.filter, limit: limit, counting: isCounting)
            move(to: look.next)
            return (look.jobs, look.count)
        case .active:
            let (jobs, count) = try await active()
            let page = Array(jobs.dropFirst(position).prefix(limit))
            move(to: position + page.count < jobs.count ? position + page.count : nil)
            return (page, count)
        }
    }

    /// All active jobs, the oldest first. There are no more of them than the workers have places.
    private func active() async throws -> (jobs: [ListedJob], count: Int) {
        var (jobs, count, cursor) = ([ListedJob](), 0, String?.some("0"))
        while let from = cursor {
            let look = try await queue.lookAtActive(from: from, selection.filter, counting: isCounting)
            jobs += look.jobs
            count += look.count
            cursor = look.next
        }
        return (jobs.sorted { ($0.at ?? 0) < ($1.at ?? 0) }, count)
    }

    private mutating func move(to position: Int?) {
        isAtEnd = position == nil
        cursor = JobCursor(position: UInt64(position ?? 0))
    }

    /// Lists may appear and disappear between two parts. Where the cursor's list is gone, the walk goes on with the next list in the order.
    private mutating func lookAtLists(limit: Int) async throws -> (jobs: [ListedJob], count: Int) {
        if lists == nil {
            let all = try await queue.lists(of: selection.state, host: selection.filter.host)
            let begin = JobList(cursor.list)
            if let index = all.firstIndex(of: begin) {
                lists = Array(all[index...])
            } else {
                lists = cursor.list.isEmpty ? all : all.filter { begin < $0 }
            }
        }
        guard let list = lists?.first else {
            isAtEnd = true
            return ([], 0)
        }
        let position = cursor.list == list.name ? Int(clamping: cursor.position) : 0
        let look = try await queue.look(at: list, selection.state, from: position, selection.filter, limit: limit, counting: isCounting)
        if let next = look.next {
            cursor = JobCursor(list: list.name, position: UInt64(next))
        } else {
            lists?.removeFirst()
            isAtEnd = lists?.isEmpty ?? true
            cursor = JobCursor(list: lists?.first?.name ?? [], position: 0)
        }
        return (look.jobs, look.count)
    }
}
