#if canImport(Glibc)
import GannetTestKit
import RedisClient
import Testing

@testable import ClusterState

/// Whatever happens to workers and clocks, what was accepted ends exactly once, and the counters say so at every step.
@Suite struct ConservationTests {
    @Test(arguments: [UInt64.random(in: .min ... .max), 1, 2])
    func `everything accepted is done or failed exactly once`(seed: UInt64) async throws {
        print("conservation: seed \(seed)")
        try await QueueFixture.withClock { queue, clock in
            var course = RandomCourse(queue: queue, clock: clock, seed: seed)
            for step in 0..<600 {
                try await course.step()
                try #require(course.trouble == nil, "seed \(seed), step \(step)")
                let counts = try await queue.state.counts()
                try #require(counts == course.model.counts, "seed \(seed), step \(step): after \(course.last)")
            }
            try await course.finish()
            let counts = try await queue.state.counts()
            #expect(counts == course.model.counts, "seed \(seed)")
            #expect(counts.isEmpty)
            #expect(counts.enqueued == counts.done + counts.failed, "seed \(seed)")
            #expect(try await queue.keys() == [queue.key("batch:b"), queue.key("count")], "seed \(seed)")
        }
    }
}

/// What the queue has to be like. Its clock has steps; three of them end a lease.
struct QueueModel {
    struct Lease {
        let url: Int
        var renewed: Int
    }

    var now = 0
    var ready: Set<Int> = []
    var crashes: [Int: Int] = [:]
    var leases: [LeaseToken: Lease] = [:]
    var counts = QueueCounts()

    static let stepsOfLease = 3

    func knows(_ url: Int) -> Bool { ready.contains(url) || leases.values.contains { $0.url == url } }

    mutating func add(_ url: Int) {
        ready.insert(url)
        crashes[url] = 0
        counts.enqueued += 1
        tally()
    }

    /// Takes ended leases back; answers how many jobs were given up.
    mutating func recover() -> Int {
        var poisoned = 0
        for (token, lease) in leases where now - lease.renewed >= Self.stepsOfLease {
            leases[token] = nil
            counts.crashed += 1
            crashes[lease.url, default: 0] += 1
            if crashes[lease.url] == 3 {
                counts.failed += 1
                poisoned += 1
            } else {
                ready.insert(lease.url)
            }
        }
        tally()
        return poisoned
    }

    mutating func settle(_ token: LeaseToken, _ outcome: JobOutcome, bytes: Int) -> Bool {
        guard let lease = leases.removeValue(forKey: token) else { return false }
        switch outcome {
        case .done: counts.done += 1
        case .failed: counts.failed += 1
        case .handedBack: ready.insert(lease.url)
        }
        if outcome != .handedBack { counts.bytes += bytes }
        tally()
        return true
    }

    mutating func tally() {
        counts.ready = ready.count
        counts.active = leases.count
    }
}

/// Random calls, each made on Redis and on the model.
struct RandomCourse {
    let queue: QueueFixture
    let clock: MovableClock
    var random: SeededBytes
    var model = QueueModel()
    var trouble: String?
    var last = "nothing"

    private var offset = 0
    /// Every token there ever was: workers that died may come back with theirs.
    private var tokens: [LeaseToken] = []

    private static let urls = 60
    private static let clockStep = Duration.seconds(4000)
    private static let lease = Duration.seconds(10_000)

    init(queue: QueueFixture, clock: MovableClock, seed: UInt64) {
        self.queue = queue
        self.clock = clock
        random = SeededBytes(seed: seed)
    }

    mutating func step() async throws {
        switch below(20) {
        case 0..<4: try await enqueue()
        case 4..<9: try await claim(below(9))
        case 9..<14: try await settle()
        case 14..<16: try await renew()
        default: if below(2) == 0 { jump() }
        }
    }

    /// Lets one last worker do all that is left.
    mutating func finish() async throws {
        while !model.counts.isEmpty {
            for _ in 0..<QueueModel.stepsOfLease { jump() }
            let first = tokens.count
            try await claim(Self.urls)
            for token in tokens[first...] { try await settle(token, .done) }
        }
    }

    private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    private mutating func expect(_ isSo: Bool, _ sentence: String) {
        if !isSo, trouble == nil { trouble = sentence }
    }

    private mutating func jump() {
        last = "a jump"
        clock.advance(by: Self.clockStep)
        model.now += 1
    }

    private mutating func enqueue() async throws {
        last = "enqueue"
        let numbers = (0..<below(12)).map { _ in below(Self.urls) }
        let end = offset + numbers.count + 1
        // A lost reply: the same call again.
        for _ in 0...below(2) {
            let progress = try await queue.state.enqueue(numbers.map(QueueFixture.url), batch: "b", from: offset, to: end)
            expect(progress.offset == end, "the offset is \(progress.offset) and not \(end)")
        }
        offset = end
        for number in numbers where !model.knows(number) { model.add(number) }
    }

    private mutating func claim(_ limit: Int) async throws {
        last = "claim \(limit)"
        let answer = try await queue.state.claim(limit, lease: Self.lease, nonce: random.next())
        expect(answer.poisoned == model.recover(), "poisoned \(answer.poisoned)")
        expect(answer.leases.count == min(limit, model.ready.count), "claimed \(answer.leases.count) of \(model.ready.count)")
        for lease in answer.leases {
            let number = Int(lease.entry.url.dropFirst("http://h/".count)) ?? -1
            expect(model.ready.remove(number) != nil, "\(number) was not ready")
            expect(lease.entry.crashes == model.crashes[number], "\(number) has \(lease.entry.crashes) crashes")
            expect(!tokens.contains(lease.token), "a token came twice")
            tokens.append(lease.token)
            model.leases[lease.token] = QueueModel.Lease(url: number, renewed: model.now)
        }
        model.tally()
        expect((answer.nextLeaseEnd == nil) == model.leases.isEmpty, "next lease end \(String(describing: answer.nextLeaseEnd))")
    }

    private mutating func settle() async throws {
        guard !tokens.isEmpty else { return }
        let recent = min(tokens.count, 40)
        let token = tokens[tokens.count - 1 - below(recent)]
        let outcomes: [JobOutcome] = [.done, .failed, .handedBack]
        try await settle(token, outcomes[below(3)])
    }

    private mutating func settle(_ token: LeaseToken, _ outcome: JobOutcome) async throws {
        last = "settle \(outcome)"
        let bytes = outcome == .done ? below(1000) : 0
        let accepted = try await queue.state.settle(token, outcome, bytes: bytes)
        expect(accepted == model.settle(token, outcome, bytes: bytes), "settled \(accepted)")
    }

    private mutating func renew() async throws {
        last = "renew"
        let some = tokens.suffix(30).filter { _ in below(2) == 0 }
        let lost = try await queue.state.renew(some, lease: Self.lease)
        expect(lost == Set(some.filter { model.leases[$0] == nil }), "renewal lost \(lost.count)")
        for token in some { model.leases[token]?.renewed = model.now }
    }
}
#endif
