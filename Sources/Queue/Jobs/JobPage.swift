internal import GannetBase
internal import GannetRedisClient

/// A part of a listing: a bounded number of elements is looked at, and the part ends when it has as many jobs as asked for.
struct JobPage {
    private(set) var reader: JobReader
    private let limit: Int
    private var looks: Int
    private(set) var jobs: [ListedJob] = []

    /// How many jobs were found. Jobs whose URL is not valid UTF-8 are counted and not listed.
    private(set) var count = 0

    private static let placesAtOnce = 64

    init(_ reader: JobReader, limit: Int, looks: Int) {
        self.reader = reader
        self.limit = limit
        self.looks = looks
    }

    private var isFull: Bool { count >= limit }

    private mutating func add(
        _ block: Block, job index: Int = 0, at time: Int?, crashes: Int, failures: Int, error: OutcomeContent? = nil,
        putOffSince: Int? = nil
    ) {
        var read: JobEntry?
        if let bytes = block.bytes(ofJobs: index..<index + 1), var one = Block(bytes), case .job(let entry) = one.next() { read = entry }
        guard reader.selection.filter.lists(read) else { return }
        count += 1
        guard let entry = read else { return }
        jobs.append(
            ListedJob(
                state: reader.selection.state, entry: entry, batch: block.batch, enqueued: block.enqueued, crashes: crashes,
                failures: failures, at: time, error: error, putOffSince: putOffSince))
    }
}

extension JobPage {
    /// Adds the jobs that were given up, the latest first. Answers where to go on; `nil` at the end.
    mutating func addDead(from start: Int) async throws -> Int? {
        let last = start + looks - 1
        let command = RedisCommand(
            "ZRANGE", reader.keys.dead(of: reader.queue.name), .integer(start), .integer(last), "REV", "WITHSCORES")
        let found = try await reader.pipeline([command])[0].asArray()
        for index in stride(from: 0, to: found.count - 1, by: 2) {
            if isFull { return start + index / 2 }
            guard let job = reader.selected(dead: try found[index].asBytes()) else { continue }
            add(
                job.block, at: Int(inRedis: try found[index + 1].asString()), crashes: job.crashes, failures: job.failures, error: job.error
            )
        }
        return found.count < 2 * looks ? nil : last + 1
    }
}

extension JobPage {
    /// The position of a listing in a partition.
    private struct Position {
        var priority: Int
        /// The place in its priority: the ready blocks, and then the timers in their order.
        var place: Int
        var element: Int
        /// The job in the element.
        var job: Int
        /// Tells the place from another that has come there since.
        var mark: Int

        var numbers: [Int] { [priority, place, element, job, mark] }

        mutating func moveOn() { (place, element, job) = (place + 1, 0, 0) }
    }

    /// A place with what is read of it.
    private struct Found {
        let place: JobPlace
        /// The commands that read elements, and behind them the URL's lock where the place is one of followers.
        var commands: [RedisCommand] = []
        var elements: [[UInt8]] = []
        /// The elements reach to the end of the place.
        var isWhole = true
        var lock: URLLock?

        var mark: Int { Int(Partition.hash(place.member) & 0xffff_ffff) }

        mutating func read(_ replies: ArraySlice<RedisReply>, state: JobState) throws {
            var lists = replies
            if place.followedID != nil { lock = try lists.popLast()?.asOptionalBytes().flatMap { URLLock($0) } }
            elements = try lists.flatMap { try $0.asArray().map { try $0.asBytes() } }
            // Jobs that came back stand before all that follow.
            if place.followedID != nil, state != .parked, let end = elements.firstIndex(where: { Block($0)?.followerState == .parked }) {
                elements.removeSubrange(end...)
                isWhole = true
            }
        }
    }

    /// Adds jobs that wait. Answers where to go on; `nil` at the end.
    mutating func addWaiting(from start: [Int]) async throws -> [Int]? {
        var position = Position(priority: max(1, start[0]), place: start[1], element: start[2], job: start[3], mark: start[4])
        while let priority = Priority(number: position.priority) {
            if looks <= 0 || isFull { return position.numbers }
            let places = try await places(of: priority, from: position)
            if places.isEmpty { position = Position(priority: priority.number + 1, place: 0, element: 0, job: 0, mark: 0) }
            for found in places {
                if position.mark != found.mark { (position.element, position.job, position.mark) = (0, 0, found.mark) }
                guard add(found, &position) else { return position.numbers }
                if !found.isWhole { break }
                position.moveOn()
            }
        }
        return nil
    }

    /// Reads the next places of a priority, as far as elements may still be looked at.
    private mutating func places(of priority: Priority, from position: Position) async throws -> [Found] {
        let first = max(0, position.place - 1)
        let timers = try await reader.pipeline([
            RedisCommand(
                "ZRANGE", reader.keys.timers(priority, of: reader.queue.name), .integer(first), .integer(first + Self.placesAtOnce - 1))
        ])[0].asArray()
        var places = position.place == 0 ? [Found(place: .ready)] : []
        for timer in timers { places.append(Found(place: JobPlace(timer: try timer.asBytes()))) }
        let lists = places.map { reader.list(of: $0.place, priority) }
        var found = try await look(at: lists, of: priority, from: position)[...]
        var asked = 0
        for (index, list) in lists.enumerated() {
            if looks <= 0 {
                places.removeSubrange(index...)
                break
            }
            looks -= 1
            guard list != nil, let whole = found.popFirst() else { continue }
            let from = index == 0 && position.mark == places[0].mark ? position.element : 0
            let wanted = min(looks + 1, max(0, whole.length - from))
            if wanted == 0 { continue }
            looks -= wanted - 1
            if index == 0 { asked = wanted }
            places[index].isWhole = from + wanted >= whole.length
            places[index].commands = whole.reading(from..<from + wanted)
            if let id = places[index].place.followedID {
                places[index].commands.append(RedisCommand("HGET", reader.keys.locks, .bytes(id)))
            }
        }
        var replies = try await reader.pipeline(places.flatMap(\.commands))[...]
        for index in places.indices where !places[index].commands.isEmpty {
            let number = places[index].commands.count
            try places[index].read(replies.prefix(number), state: reader.selection.state)
            replies = replies.dropFirst(number)
        }
        // Jobs were claimed meanwhile, and parts of the list are gone.
        if position.place == 0, places[0].elements.count < asked { reader.ready[priority.number] = nil }
        try await reader.learnBatches(of: places.flatMap(\.elements))
        return places
    }

    /// The lengths of the lists. An earlier look knows those of the ready blocks.
    private mutating func look(at lists: [RedisArgument?], of priority: Priority, from position: Position) async throws -> [LongList] {
        let hasReady = position.place == 0 && lists.first != .some(nil)
        let known = hasReady && position.element > 0 ? reader.ready[priority.number] : nil
        let new = try await reader.queue.cluster.look(at: lists.dropFirst(known == nil ? 0 : 1).compactMap { $0 })
        let found = (known.map { [$0] } ?? []) + new
        if hasReady { reader.ready[priority.number] = found.first }
        return found
    }

    /// Adds the jobs of a place from a position on. Answers whether there was room for all of them.
    private mutating func add(_ found: Found, _ position: inout Position) -> Bool {
        let retry = reader.selection.state == .delayed && found.lock?.kind == .retry ? found.lock?.began : nil
        let lock = reader.selection.state == .parked ? nil : found.lock
        let putOffSince = lock.flatMap { $0.kind == .retry && $0.throttled > 0 ? $0.throttled : nil }
        for element in found.elements {
            if let block = reader.selected(element, in: found.place) {
                for index in min(position.job, block.count)..<block.count {
                    if isFull {
                        position.job = index
                        return false
                    }
                    add(
                        block, job: index, at: found.place.due(block) ?? retry, crashes: lock?.crashes ?? 0,
                        failures: lock?.failures ?? 0, error: lock.flatMap { OutcomeContent($0.failure) }, putOffSince: putOffSince)
                }
            }
            (position.element, position.job) = (position.element + 1, 0)
        }
        return true
    }
}
