internal import GannetBase
internal import GannetRedisClient

/// Where some of a queue's ready, parked or delayed jobs of one priority lie. Except for the ready blocks, each list is a member of the
/// priority's timers.
package enum JobList {
    /// Blocks that no worker has seen.
    case ready
    /// Blocks, and URLs to carry on, whose host had no room.
    case aside(host: [UInt8])
    /// The jobs that follow a URL.
    case followers(id: [UInt8])
    /// Blocks that were enqueued with the same delay, in milliseconds.
    case delayed(delay: Int)
    /// A timer that no script sets.
    case unknown(member: [UInt8])

    package init(timer member: [UInt8]) {
        switch member.first {
        case UInt8(ascii: "h"): self = .aside(host: Array(member.dropFirst()))
        case UInt8(ascii: "u"): self = .followers(id: Array(member.dropFirst()))
        case UInt8(ascii: "d"):
            let text = String(decoding: member.dropFirst(), as: UTF8.self)
            // Another spelling of a number would be the timer of another list.
            if let delay = Int(inRedis: text), delay >= 0, "\(delay)" == text {
                self = .delayed(delay: delay)
            } else {
                self = .unknown(member: member)
            }
        default: self = .unknown(member: member)
        }
    }

    /// The timer's member; empty for the ready blocks.
    package var member: [UInt8] {
        switch self {
        case .ready: []
        case .aside(let host): [UInt8(ascii: "h")] + host
        case .followers(let id): [UInt8(ascii: "u")] + id
        case .delayed(let delay): Array("d\(delay)".utf8)
        case .unknown(let member): member
        }
    }

    /// The id of the URL that the jobs follow.
    var followedID: [UInt8]? { if case .followers(let id) = self { id } else { nil } }

    /// The timer's score for a time.
    func score(at time: Int) -> Int {
        if case .aside = self { return time + Keys.hostsBehind }
        return time
    }

    /// When a block of this list is due, for blocks that were enqueued with a delay.
    package func due(_ block: Block) -> Int? {
        guard case .delayed(let delay) = self else { return nil }
        return block.enqueued + delay
    }
}

/// Reads the jobs of a selection in one partition by plain commands. Nothing is locked: a job that moves meanwhile may be met twice or not.
struct JobReader {
    let queue: FetchQueue
    let partition: Partition
    let selection: JobSelection

    /// The ready blocks of each priority, as they lay there at the first look. A list of millions has hundreds of parts.
    var ready: [Int: LongList] = [:]
    private var batches: [Int: [UInt8]?] = [:]
    private static let cancelled = Array("cancelled".utf8)

    init(_ queue: FetchQueue, _ partition: Partition, _ selection: JobSelection) {
        self.queue = queue
        self.partition = partition
        self.selection = selection
    }

    var keys: Keys { partition.keys }

    /// The key of a list that may hold selected jobs.
    func key(of list: JobList, _ priority: Priority) -> RedisArgument? {
        switch list {
        case .ready: selection.state == .ready ? keys.ready(priority, of: queue.name) : nil
        case .aside(let host):
            selection.state == .ready && (selection.filter.host.map { Array($0.utf8) == host } ?? true)
                ? keys.aside(host, priority, of: queue.name) : nil
        case .followers(let id): keys.followers(id, of: queue.name)
        case .delayed(let delay): selection.state == .delayed ? keys.delayed(delay, priority, of: queue.name) : nil
        case .unknown: nil
        }
    }

    /// Learns which batches are still under way, before their blocks are selected.
    mutating func learnBatches(of elements: [[UInt8]]) async throws {
        let numbers = Set(elements.compactMap { Block($0)?.batch }).filter { batches[$0] == nil }.sorted()
        let replies = try await queue.cluster.answers(to: numbers.map { RedisCommand("HGET", keys.batch($0, of: queue.name), "state") })
        for (number, reply) in zip(numbers, replies) { batches[number] = .some(try reply.asOptionalBytes()) }
    }

    mutating func forgetBatches() { batches = [:] }

    /// The state of a batch as Redis has it; `nil` for a batch that was cancelled or is gone. Its waiting jobs have ended, wherever they lie.
    func state(ofBatch number: Int) -> [UInt8]? {
        guard let state = batches[number] ?? nil, state != Self.cancelled else { return nil }
        return state
    }

    /// The block, where its jobs are selected. The state of followers is their own.
    func selected(_ element: [UInt8], in list: JobList) -> Block? {
        guard let block = Block(element), state(ofBatch: block.batch) != nil, matches(block) else { return nil }
        if case .followers = list, block.followerState != selection.state { return nil }
        return block
    }

    /// The positions of the selected jobs in a selected block, the last `most` of them.
    func chosen(_ block: Block, most: Int) -> [Int] {
        guard selection.filter.looksAtEach else { return Array(max(0, block.count - most)..<block.count) }
        var (rest, chosen) = (block, [Int]())
        for index in 0..<block.count {
            guard let element = rest.next() else { break }
            if case .job(let entry) = element, selection.filter.lists(entry) { chosen.append(index) }
        }
        return chosen.suffix(most)
    }

    /// Whether a URL's followers may be selected.
    func mayConcern(_ list: JobList) -> Bool {
        guard let url = selection.filter.url, case .followers(let id) = list else { return true }
        return url.bytes == id
    }

    func matches(_ block: Block) -> Bool {
        matchesHost(block) && (selection.filter.batch.map { $0 == block.batch } ?? true)
    }

    /// All jobs of a URL have its host.
    func matchesHost(_ block: Block) -> Bool { selection.filter.host.map { $0 == block.host } ?? true }

    /// A given-up job, where it is selected.
    func selected(dead record: [UInt8]) -> DeadJob? {
        guard let job = DeadJob(record), matches(job.block) else { return nil }
        if selection.filter.looksAtEach, chosen(job.block, most: 1).isEmpty { return nil }
        return selection.filter.matches(errorClass: job.error?.fields[.errorClass]) ? job : nil
    }
}

/// A job that was given up, as the queue keeps it. `Scripts/Exchange/ends.lua` writes it.
package struct DeadJob {
    let crashes: Int
    let failures: Int
    package let block: Block
    package let error: OutcomeContent?

    /// `nil` for a record that cannot be read.
    package init?(_ record: [UInt8]) {
        var reader = ByteReader(record)
        guard reader.bytes(LockToken.count) != nil, let crashes = reader.number(1), let failures = reader.number(1),
            let block = reader.number(2).flatMap({ reader.bytes($0) }).flatMap({ Block($0) })
        else { return nil }
        self.crashes = crashes
        self.failures = failures
        self.block = block
        error = OutcomeContent(reader.all())
    }
}
