import GannetBase
import GannetQueue
import GannetRedisClient

/// Answers of Redis to the questions of the state. A number after those of the forms that lie there says which it is.
enum StateAnswer: UInt8, CaseIterable {
    case exchange = 0x80
    case acquire, batch, counts, failures, standing, look, info

    private static let now = 1_800_000_000_000

    /// - Parameter size: The bytes of the reply.
    func check(_ reply: RedisReply, size: Int) throws(BrokenInvariant) {
        switch self {
        case .exchange: try Self.check(exchange: reply)
        case .acquire: try Self.check(acquire: reply, size: size)
        case .batch:
            guard let batch = (try? Batch(number: 1, reply, now: Self.now)) ?? nil else { return }
            try require(batch.ready >= 0 && batch.age.map { $0 >= .zero } ?? true, "a batch has less than nothing: \(reply)")
            try require(batch.ended == batch.done + batch.failed + batch.cancelled, "the ended jobs of \(reply) are others")
            try require(batch.options.maximumAge.map { $0 >= .zero } ?? true, "an age below zero: \(reply)")
            _ = (batch.state, batch.progress)
        case .counts:
            guard let counts = try? QueueCounts(reply, dead: size) else { return }
            try require(counts.isEmpty == (counts.open == 0), "the open jobs of \(reply) are others")
        case .failures:
            guard let fields = try? reply.asArray(), let failures = try? FailureCounts(fields) else { return }
            try require(failures.sorted.allSatisfy { $0.count > 0 }, "a class without a failure: \(reply)")
            try require(failures.byClass.count <= fields.count / 2, "more classes than fields: \(reply)")
        case .standing:
            guard let standing = try? HostStanding(reply, of: "a.example.com", at: Self.now) else { return }
            try require(standing.running >= 0 && standing.failures >= 0, "a host has less than nothing: \(reply)")
            if let pause = standing.rule?.pause { try require(pause > .zero, "a pause that is over: \(reply)") }
        case .look: try Self.check(look: reply)
        case .info:
            guard let info = (try? InfoReply(.success(reply))) ?? nil else { return }
            for name in ["used_memory", "maxmemory", "maxmemory_policy", "redis_version"] {
                try require(!(info[name]?.contains("\n") ?? false), "the value of \(name) has two lines")
            }
            _ = info.evictsAnyKey
        }
    }

    private static func check(exchange reply: RedisReply) throws(BrokenInvariant) {
        guard let exchange = (try? ExchangeAnswer(reply, partition: 0)) ?? nil, let fields = try? reply.asArray() else { return }
        try require(exchange.jobs.count + exchange.unreadable.count == (fields.count - 9) / 2, "jobs of \(reply) are missing")
        for job in exchange.jobs {
            try require(job.throttled >= .zero, "a job was put off for less than nothing: \(reply)")
            try require(job.outcome == nil || job.stale == nil, "a job has two outcomes: \(reply)")
            for outcome in [job.outcome, job.stale].compactMap({ $0 }) {
                _ = (outcome.age(at: exchange.now), outcome.freshFor(at: exchange.now))
            }
            if let headers = job.headers { try require(RequestHeaders(headers.bytes) == headers, "the headers of \(reply) are others") }
        }
        try require(!(exchange.isPaused && exchange.isHeldBack), "two states at once: \(reply)")
        try require(exchange.next.map { $0 >= .zero } ?? true, "a visit in the past: \(reply)")
    }

    private static func check(acquire reply: RedisReply, size: Int) throws(BrokenInvariant) {
        guard let answer = try? AcquireAnswer(reply) else { return }
        var content: OutcomeContent?
        switch answer.fate {
        case .fresh(let outcome), .negative(let outcome), .leased(_, let outcome?):
            try require(outcome.age(at: answer.now) >= .zero, "an age below zero: \(reply)")
            _ = (outcome.freshFor(at: answer.now), outcome.remembered(at: answer.now))
            content = outcome.content
        case .waits(let failure): content = failure
        case .busy, .leased, .ended: return
        }
        if let content { try content.check(size: size) }
    }

    private static func check(look reply: RedisReply) throws(BrokenInvariant) {
        guard let parts = try? reply.asArray() else { return }
        // A pipeline has as many answers as commands.
        let wanted = parts.count < 14 ? 13 : 15
        let replies = Array((parts + Array(repeating: RedisReply.null, count: wanted)).prefix(wanted))
        guard var look = try? PartitionLook(replies) else { return }
        try require((try? look.note(parts.reversed(), partBytes: 4096)) == nil || look.waits.held <= max(0, look.counts.ready), "too many")
        try require(look.waits.held >= 0 && look.waits.hosts >= 0 && look.waits.delayed >= 0, "fewer than none wait: \(reply)")
    }

    // MARK: Inputs to begin with

    static var seeds: [[UInt8]] { allCases.flatMap { answer in answer.samples.map { [answer.rawValue] + (RESP.bytes($0) ?? []) } } }

    private var samples: [RedisReply] {
        let number = { (number: Int) in RedisReply.text("\(number)") }
        switch self {
        case .exchange: return Self.exchanges
        case .acquire:
            let outcome = RedisReply.bytes(StateSamples.outcome(flags: 0))
            let now = RedisReply.integer(Self.now)
            return [
                [.text("ended")], [.text("fresh"), now, outcome], [.text("negative"), now, .bytes(StateSamples.outcome(flags: 1))],
                [.text("busy"), now, .integer(250)], [.text("leased"), now, .bytes(Array(0..<16)), outcome],
                [.text("waits"), now, .bytes(StateSamples.content.bytes)], [.text("newer"), now],
            ].map { .array($0) }
        case .batch:
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            let texts = ["b", "2", "1", "-1", "1700000000000"].map { RedisReply.text($0) }
            let words = [.null, .text(trace), .text("obey heed"), .text("open")] as [RedisReply]
            return [.array(texts + words + (1...8).map { number(10 - $0) })]
        case .counts: return [.array((0..<15).map { number(20 - $0) } + [.null])]
        case .failures: return [.array(["failed:timeout", "3", "failed:", "1", "total", "9"].map { .text($0) })]
        case .standing:
            return [.array([.bytes(Array(0..<18)), .text("4 250 1900000000000"), .null, .text("8  "), .null])]
        case .look: return [Self.looks]
        case .info: return [.text("# Memory\r\nused_memory:5\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\nredis_version:7.2.4\r\n")]
        }
    }

    private static var exchanges: [RedisReply] {
        let head: [RedisReply] = [
            .text("ok"), .integer(now), .bytes([1, 0, 2]), .integer(2), .integer(0), .integer(1), .integer(250), .integer(0),
            .array([.integer(7), .text("batch"), .null, .null, .text("obey heed")]),
        ]
        let lock = [UInt8(ascii: "L")] + StateSamples.lock(0x4c).dropFirst()
        let delivery = [UInt8(ascii: "d")] + Array(0..<16) + [1, UInt8(ascii: "q")] + StateSamples.block
        let jobs: [RedisReply] = [.bytes(lock), .text(""), .bytes(delivery), .bytes(StateSamples.outcome(flags: 0))]
        return [.array([.text("ended")]), .array(head), .array(head + jobs)]
    }

    private static var looks: RedisReply {
        let clock: [RedisReply] = [.array([.text("1800000000"), .text("5")]), .null]
        let counts: [RedisReply] = [.array((0..<15).map { .text("\(20 - $0)") } + [.null]), .integer(3)]
        let lists: [RedisReply] = (0..<3).flatMap { number -> [RedisReply] in
            let heads = RedisReply.array(number == 1 ? [.bytes(StateSamples.block)] : [])
            return [heads, .array([.text("hexample.com"), .text("u0123456789abcdef")]), .integer(2)]
        }
        var heard: [UInt8] = []
        heard.append(number: now, count: 6)
        let worker = RedisReply.bytes(heard + StateSamples.worker.bytes)
        let fields: [RedisReply] = [.text("worker:a"), worker, .text("history"), .bytes(Array(0..<60)), .text("failed:dns"), .text("2")]
        return .array(clock + counts + lists + [.array(fields), .array([.text("queue:q"), .text("\(now)")])])
    }
}
