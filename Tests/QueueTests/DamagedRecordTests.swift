import GannetBase
import GannetRedisClient
import Testing

@testable import GannetQueue

/// Records and answers with bytes that no version writes: nothing here is a trap, and nothing is taken for what it is not.
@Suite struct DamagedRecordTests {
    private static let now = 1_800_000_000_000

    private static func text(_ text: String) -> RedisReply { .bytes(Array(text.utf8)) }

    /// A lock of a caller without a job, with somebody who waits on a channel.
    private static func lock(queue: [UInt8], channel: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x41] + Array(0..<16)
        for (number, count) in [(now, 6), (now, 6), (1, 1), (2, 1), (0, 1), (0, 6)] { bytes.append(number: number, count: count) }
        var extras = [UInt8(queue.count)] + queue
        extras += [0, 0, UInt8(ascii: "c"), UInt8(channel.count)] + channel
        bytes.append(number: extras.count, count: 2)
        return bytes + extras + [1, 2, 3]
    }

    @Test func `reading and writing keeps the bytes of a lock, and a lock whose names are no text is not read`() {
        let sound = Self.lock(queue: Array("q".utf8), channel: Array("é".utf8))
        #expect(URLLock(sound)?.bytes == sound)
        let wrong = [UInt8](repeating: 0xff, count: 100)
        #expect(URLLock(Self.lock(queue: wrong, channel: [1]))?.bytes == nil)
        #expect(URLLock(Self.lock(queue: [1], channel: wrong))?.bytes == nil)
    }

    @Test func `a lock that is cut, of another kind, or with a waiter of another kind is not read`() {
        let sound = Self.lock(queue: Array("q".utf8), channel: [1])
        let somebody = 44
        for (place, byte) in [(0, "Z"), (somebody, "n")] {
            var strange = sound
            strange[place] = Array(byte.utf8)[0]
            #expect(URLLock(strange) == nil, "\(byte)")
        }
        for count in 0...somebody { #expect(URLLock(Array(sound.prefix(count))) == nil, "\(count) bytes") }
    }

    @Test(arguments: ["d+5", "d007", "d-1", "d9223372036854775807", "d", "dx"])
    func `a timer with another spelling of a delay stays as it is`(member: String) throws {
        let place = JobList(timer: Array(member.utf8))
        #expect(place.member == Array(member.utf8))
        let block = try #require(Block.pack([try QueueFixture.entry(0)], batch: 1, hasHeaders: false).first.flatMap { Block($0) })
        #expect(place.due(block) == nil)
        #expect(JobList(timer: Array("d60000".utf8)).due(block) == block.enqueued + 60_000)
    }

    @Test func `a sample behind a part of one is read`() {
        let sample = QueueSample(time: Self.now, done: 1, failed: 2, bytes: 3, open: 4)
        for count in [0, 1, 29, 31, 59] {
            let bytes = sample.appended(to: sample.appended(to: []) + [UInt8](repeating: 7, count: count))
            #expect(QueueSample.read(bytes).last == sample && bytes.count.isMultiple(of: 30), "\(count)")
        }
    }

    @Test(arguments: [Int.min, .max]) func `counters that no script writes are no numbers`(number: Int) throws {
        let texts = ["b", "2", "1", "\(number)", "\(number)"].map { Self.text($0) } + [.null, .null, .null, .null, Self.text("open")]
        let numbers = [RedisReply](repeating: Self.text("\(number)"), count: 8)
        let batch = try #require(try Batch(number: 1, .array(texts + numbers), now: Self.now))
        #expect(batch.age == nil && batch.total == 0 && batch.ready == 0 && batch.options.maximumAge == nil)
        let counters = [RedisReply](repeating: Self.text("\(number)"), count: QueueCounts.fields.count - 1) + [.null]
        #expect(throws: RedisError.self) { try QueueCounts(.array(counters), dead: 0) }
        #expect(try FailureCounts([Self.text("failed:x\u{1B}[31m"), Self.text("1")]).byClass.isEmpty)
        #expect(try FailureCounts([Self.text("failed:dns"), Self.text("\(number)")]).byClass.isEmpty)
        #expect(try PartitionLook.queues(.array([Self.text("queue:q"), Self.text("\(number)")]), now: Self.now).isEmpty)
    }

    @Test func `a batch of which more jobs have ended than are counted is complete`() throws {
        let texts = ["b", "2", "0", "-1", "1"].map { Self.text($0) } + [.null, .null, .null, .null, Self.text("closed")]
        let numbers = ["40", "52", "0", "0", "0", "0", "0", "0"].map { Self.text($0) }
        let reply = RedisReply.array(Array((texts + numbers).prefix(Batch.fields.count)))
        let batch = try #require(try Batch(number: 1, reply, now: Self.now))
        #expect(batch.isComplete && batch.state == .complete && batch.progress == 1 && batch.ready == 0)
    }

    @Test func `the largest counters of all partitions have a sum`() throws {
        let counters = [RedisReply](repeating: Self.text("\(-(1 << 53))"), count: QueueCounts.fields.count - 1) + [.null]
        var sum = QueueCounts()
        for _ in 0..<Partition.most { sum.add(try QueueCounts(.array(counters), dead: 0)) }
        #expect(sum.enqueued == -(1 << 59))
    }

    @Test(arguments: [Int.min, .max]) func `an answer with a time that no clock shows is of another form`(time: Int) throws {
        let clock = [Self.text("\(time)"), Self.text("0")]
        #expect(throws: RedisError.self) { try ClusterState.now([.success(.array(clock)), .success(.null)]) }
        #expect(throws: RedisError.self) { try AcquireAnswer(.array([Self.text("busy"), .integer(time), .integer(5)])) }
        let job = [UInt8(ascii: "L")] + Self.lock(queue: Array("q".utf8), channel: [1]).dropFirst().dropLast(3)
        let block = Block.pack([try QueueFixture.entry(0)], batch: 1, hasHeaders: false)[0]
        var late = job
        late.replaceSubrange(32..<38, with: [0, 0, 0, 0, 0, 9])
        let fields: [RedisReply] = [
            Self.text("ok"), .integer(time), Self.text(""), .integer(0), .integer(0), .integer(0), .integer(-1), .integer(0), .array([]),
            .bytes(late + block), Self.text(""),
        ]
        #expect(throws: RedisError.self) { try ExchangeAnswer(.array(fields), partition: 0) }
        var sound = fields
        sound[1] = .integer(Self.now)
        #expect(try ExchangeAnswer(.array(sound), partition: 0)?.jobs.first?.throttled == .milliseconds(Self.now - 9))
    }

    @Test func `lists of impossible lengths are of another form`() throws {
        let clock: [RedisReply] = [.array([Self.text("1800000000"), Self.text("0")]), .null]
        let counts: [RedisReply] = [.array([RedisReply](repeating: .null, count: QueueCounts.fields.count)), .integer(0)]
        let lists: [RedisReply] = (0..<3).flatMap { _ in
            [RedisReply.array([]), .array([]), .array([Self.text("hexample.com")]), .integer(1)]
        }
        var look = try PartitionLook(clock + counts + lists)
        let heads = RedisReply.array([.bytes(Block.pack([try QueueFixture.entry(0)], batch: 1, hasHeaders: false)[0])])
        #expect(throws: RedisError.self) { try look.note([.integer(.max), .integer(.max), heads], partBytes: 4096) }
        look = try PartitionLook(clock + counts + lists)
        try look.note([.integer(1 << 53), .integer(1 << 53), heads], partBytes: 4096)
        #expect(look.waits.held == 0 && look.waits.hosts == 1)
    }
}
