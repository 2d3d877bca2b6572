internal import GannetBase
internal import GannetRedisClient

/// Goes through selected jobs that are not active, a part at a time. A part looks at a bounded number of elements, and ends when it has as many
/// jobs as asked for.
///
/// The way through a partition leads from priority to priority. Each has its ready blocks first, and then the lists of its timers. Dead jobs
/// lie in a set of their own.
struct JobWalk {
    private let queue: FetchQueue
    private let selection: JobSelection
    private var reader: JobReader
    /// Where the next part begins; `nil` behind the last one.
    private(set) var next: JobCursor?

    // The part that is being read.
    private var limit = 0
    private var looks = 0
    private var jobs: [ListedJob] = []
    private var count = 0

    private static let listsAtOnce = 64

    init(_ queue: FetchQueue, _ selection: JobSelection, from cursor: JobCursor) {
        self.queue = queue
        self.selection = selection
        reader = JobReader(queue, queue.cluster.home, selection)
        next = cursor
    }

    /// Looks at the next part. It may be empty without being the last. Jobs whose URL is not valid UTF-8 are counted and not listed.
    mutating func look(limit: Int) async throws -> (jobs: [ListedJob], count: Int) {
        let partitions = queue.cluster.partitions
        guard var cursor = next, partitions.indices.contains(cursor.partition) else {
            next = nil
            return ([], 0)
        }
        _ = try queue.checkedName()
        if reader.partition.index != cursor.partition { reader = JobReader(queue, partitions[cursor.partition], selection) }
        reader.forgetBatches()
        (self.limit, looks, jobs, count) = (limit, FetchQueue.jobsAtOnce, [], 0)
        let isMore = selection.state == .dead ? try await addDead(from: &cursor) : try await addWaiting(from: &cursor)
        if !isMore { cursor = JobCursor(partition: cursor.partition + 1) }
        next = cursor.partition < partitions.count ? cursor : nil
        return (jobs, count)
    }

    private var isFull: Bool { count >= limit }

    private mutating func add(
        _ block: Block, job index: Int = 0, at time: Int?, crashes: Int, failures: Int, error: OutcomeContent? = nil,
        putOffSince: Int? = nil
    ) {
        var read: JobEntry?
        if let bytes = block.bytes(ofJobs: index..<index + 1), var one = Block(bytes), case .job(let entry) = one.next() { read = entry }
        guard selection.filter.lists(read) else { return }
        count += 1
        guard let entry = read else { return }
        jobs.append(
            ListedJob(
                state: selection.state, entry: entry, batch: block.batch, enqueued: block.enqueued, crashes: crashes, failures: failures,
                at: time, error: error, putOffSince: putOffSince))
    }

    /// Adds jobs that were given up, the latest first. Answers whether there are more.
    private mutating func addDead(from cursor: inout JobCursor) async throws -> Bool {
        let last = cursor.element + looks - 1
        let command = RedisCommand(
            "ZRANGE", reader.keys.dead(of: queue.name), .integer(cursor.element), .integer(last), "REV", "WITHSCORES")
        let found = try await queue.cluster.answers(to: [command])[0].asArray()
        for (record, time) in found.pairs {
            if isFull { return true }
            if let job = reader.selected(dead: try record.asBytes()) {
                add(job.block, at: Int(inRedis: try time.asString()), crashes: job.crashes, failures: job.failures, error: job.error)
            }
            cursor.element += 1
        }
        return cursor.element > last
    }
}

/// Jobs that wait: ready, parked and delayed ones.
extension JobWalk {
    /// A list with the part of it that is read.
    private struct Found {
        let list: JobList
        /// How many elements are asked for.
        var asked = 0
        /// The commands that read them, and behind them the URL's lock where it is a list of followers.
        var commands: [RedisCommand] = []
        var elements: [[UInt8]] = []
        /// The elements reach to the end of the list.
        var isWhole = true
        var lock: URLLock?

        /// Tells the list from another that stands at the same position later.
        var mark: Int { Int(Partition.hash(list.member) & 0xffff_ffff) }

        mutating func read(_ replies: ArraySlice<RedisReply>, state: JobState) throws {
            var rest = replies
            if list.followedID != nil { lock = try rest.popLast()?.asOptionalBytes().flatMap { URLLock($0) } }
            elements = try rest.flatMap { try $0.asArray().map { try $0.asBytes() } }
            // Jobs that came back stand before all that follow.
            if list.followedID != nil, state != .parked, let end = elements.firstIndex(where: { Block($0)?.followerState == .parked }) {
                elements.removeSubrange(end...)
                isWhole = true
            }
        }
    }

    /// Adds jobs that wait. Answers whether there may be more.
    private mutating func addWaiting(from cursor: inout JobCursor) async throws -> Bool {
        cursor.priority = max(1, cursor.priority)
        while let priority = Priority(number: cursor.priority) {
            if looks <= 0 || isFull { return true }
            let lists = try await lists(of: priority, from: cursor)
            if lists.isEmpty { cursor = JobCursor(partition: cursor.partition, priority: cursor.priority + 1) }
            for found in lists {
                if cursor.mark != found.mark { (cursor.element, cursor.job, cursor.mark) = (0, 0, found.mark) }
                guard add(found, &cursor) else { return true }
                if !found.isWhole { break }
                (cursor.list, cursor.element, cursor.job) = (cursor.list + 1, 0, 0)
            }
        }
        return false
    }

    /// Reads the next lists of a priority, as far as elements may still be looked at.
    private mutating func lists(of priority: Priority, from cursor: JobCursor) async throws -> [Found] {
        let first = max(0, cursor.list - 1)
        let timers = try await queue.cluster.answers(to: [
            RedisCommand(
                "ZRANGE", reader.keys.timers(priority, of: queue.name), .integer(first), .integer(first + Self.listsAtOnce - 1))
        ])[0].asArray()
        var lists: [JobList] = cursor.list == 0 ? [.ready] : []
        lists += try timers.map { JobList(timer: try $0.asBytes()) }
        let keys = lists.map { reader.key(of: $0, priority) }
        var lengths = try await lengths(of: keys, priority, from: cursor)[...]
        var found: [Found] = []
        for (list, key) in zip(lists, keys) where looks > 0 {
            var one = Found(list: list)
            let whole = key == nil ? nil : lengths.popFirst()
            let start = found.isEmpty && cursor.mark == one.mark ? cursor.element : 0
            one.asked = max(0, min(looks, (whole?.length ?? 0) - start))
            // A list without selected jobs costs a look, too.
            looks -= max(1, one.asked)
            if let whole, one.asked > 0 {
                one.isWhole = start + one.asked >= whole.length
                one.commands = whole.reading(start..<start + one.asked)
                if let id = list.followedID { one.commands.append(RedisCommand("HGET", reader.keys.locks, .bytes(id))) }
            }
            found.append(one)
        }
        var replies = try await queue.cluster.answers(to: found.flatMap(\.commands))[...]
        for index in found.indices where found[index].asked > 0 {
            let number = found[index].commands.count
            try found[index].read(replies.prefix(number), state: selection.state)
            replies = replies.dropFirst(number)
        }
        // Jobs were claimed meanwhile, and parts of the list are gone.
        if cursor.list == 0, found[0].elements.count < found[0].asked { reader.ready[priority.number] = nil }
        try await reader.learnBatches(of: found.flatMap(\.elements))
        return found
    }

    /// The lengths of the lists. An earlier look knows those of the ready blocks.
    private mutating func lengths(of keys: [RedisArgument?], _ priority: Priority, from cursor: JobCursor) async throws -> [LongList] {
        let hasReady = cursor.list == 0 && keys.first != .some(nil)
        let known = hasReady && cursor.element > 0 ? reader.ready[priority.number] : nil
        let new = try await queue.cluster.look(at: keys.dropFirst(known == nil ? 0 : 1).compactMap { $0 })
        let found = (known.map { [$0] } ?? []) + new
        if hasReady { reader.ready[priority.number] = found.first }
        return found
    }

    /// Adds the jobs of a list from the cursor on. Answers whether there was room for all of them.
    private mutating func add(_ found: Found, _ cursor: inout JobCursor) -> Bool {
        let retry = selection.state == .delayed && found.lock?.kind == .retry ? found.lock?.began : nil
        let lock = selection.state == .parked ? nil : found.lock
        let putOffSince = lock.flatMap { $0.kind == .retry && $0.throttled > 0 ? $0.throttled : nil }
        for element in found.elements {
            if let block = reader.selected(element, in: found.list) {
                for index in min(cursor.job, block.count)..<block.count {
                    if isFull {
                        cursor.job = index
                        return false
                    }
                    add(
                        block, job: index, at: found.list.due(block) ?? retry, crashes: lock?.crashes ?? 0,
                        failures: lock?.failures ?? 0, error: lock?.lastFailure, putOffSince: putOffSince)
                }
            }
            (cursor.element, cursor.job) = (cursor.element + 1, 0)
        }
        return true
    }
}
