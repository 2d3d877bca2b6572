import GannetBase
import Testing

@testable import GannetQueue

/// Jobs as bytes: jobs are read as they were written, and no foreign bytes are a trap.
@Suite struct JobFormatTests {
    /// Each with the part of the URL that a block keeps besides the host.
    private static let urls: [(host: String, url: String, rest: String?)] = [
        ("example.com", "http://example.com/", "/"), ("example.com", "https://example.com/a?b", "/a?b"),
        ("example.com", "https://EXAMPLE.com/a", nil), ("h", "h", nil), ("a.example", "http://user@a.example:8080/?q=é", nil),
        ("xn--e1a", "http://е/", nil), (String(repeating: "h", count: 255), "http://" + String(repeating: "h", count: 255), nil),
        ("a", "http://" + String(repeating: "b", count: 8184) + "a", nil), ("[::1]", "http://[::1]/", "/"), ("a", "http://ab/", nil),
        ("h:81", "http://h:81/a", "/a"), ("h", "http://h:80/a", nil), ("[::1]:81", "https://[::1]:81/a", "/a"),
    ]

    private static func entry(_ index: Int) throws -> JobEntry {
        try JobEntry(id: QueueFixture.id(index), host: urls[index].host, url: urls[index].url)
    }

    @Test(arguments: urls.indices) func `a job is read as it was written`(index: Int) throws {
        let entry = try Self.entry(index)
        for hasHeaders in [false, true] {
            let bytes = try #require(Block.pack([entry], batch: 70_000, hasHeaders: hasHeaders).first)
            let block = try #require(Block(bytes))
            #expect(block.entries == [entry] && block.batch == 70_000 && block.hasHeaders == hasHeaders && block.followerState == .parked)
            #expect(bytes.count == 27 + entry.host.utf8.count + (Self.urls[index].rest ?? entry.url).utf8.count)
        }
    }

    @Test func `a chunk is packed by host, at most sixty-four jobs in a block, in its order`() throws {
        let entries = try (0..<500).map { number in
            let host = "h\(number % 3)"
            let url = "\(number % 2 == 0 ? "http" : "https")://\(host)/\(number)"
            return try JobEntry(id: QueueFixture.id(number), host: host, url: url)
        }
        let blocks = try Block.pack(entries, batch: 1, hasHeaders: false).map { try #require(Block($0)) }
        #expect(blocks.allSatisfy { $0.count <= Block.mostJobs } && blocks.count == 12)
        for host in ["h0", "h1", "h2"] {
            for scheme in ["http:", "https:"] {
                let packed = blocks.filter { $0.host == host }.flatMap(\.entries).filter { $0.url.hasPrefix(scheme) }
                #expect(packed == entries.filter { $0.host == host && $0.url.hasPrefix(scheme) })
            }
        }
    }

    private static let token = LockToken(counter: 5, incarnation: Incarnation(9))

    /// A lock, as a script hands it out.
    private static func lock(throttled: Int = 0, flags: UInt8 = 0, url: [UInt8] = []) throws -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "L")] + token.bytes
        bytes.append(number: 1_000_000, count: 6)
        bytes.append(number: 2_000_000, count: 6)
        bytes += [2, 3, flags]
        bytes.append(number: throttled, count: 6)
        let extras: [UInt8] = [1, UInt8(ascii: "q"), 0, 0]
        bytes.append(number: extras.count, count: 2)
        return bytes + extras + Block.pack([try QueueFixture.entry(5)], batch: 7, hasHeaders: false)[0] + url
    }

    private static func delivery() throws -> [UInt8] {
        [UInt8(ascii: "d")] + token.bytes + [1, UInt8(ascii: "q")] + Block.pack([try QueueFixture.entry(5)], batch: 7, hasHeaders: false)[0]
    }

    private static func read(_ bytes: [UInt8], outcome: [UInt8] = [], now: Int = 0) -> Job? {
        var unreadable: [Settlement] = []
        return try? Job.read(bytes, outcome: outcome, partition: 2, batches: [:], now: now, unreadable: &unreadable)
    }

    @Test func `a job is read from its lock, as a script hands it out`() throws {
        let job = try #require(Self.read(try Self.lock(throttled: 999_000), now: 1_005_000))
        #expect(job.token == Self.token && job.queue == "q" && job.batch == 7 && job.partition == 2)
        #expect(job.crashes == 2 && job.failures == 3 && job.throttled == .seconds(6) && !job.isHopeless)
        #expect(job.entry == (try QueueFixture.entry(5)))
        // A clock that went back makes no time negative.
        #expect(Self.read(try Self.lock(throttled: 999_000), now: 5)?.throttled == .zero)
        #expect(Self.read(try Self.lock(), now: 5)?.throttled == .zero)
        #expect(Self.read(try Self.lock(flags: 8))?.isHopeless == true)
    }

    @Test func `a job that is only delivered is read, as a script hands it out`() throws {
        let job = try #require(Self.read(try Self.delivery()))
        #expect(job.token == Self.token && job.queue == "q" && job.batch == 7 && job.failures == 0 && job.stale == nil)
        #expect(job.entry == (try QueueFixture.entry(5)))
    }

    @Test func `a job whose URL is not valid UTF-8 has an id all the same`() throws {
        var unreadable: [Settlement] = []
        let bytes = try Self.lock(url: [0xff])
        let job = try Job.read(bytes, outcome: [], partition: 0, batches: [:], now: 0, unreadable: &unreadable)
        let settlement = try #require(unreadable.first)
        #expect(job == nil && unreadable.count == 1)
        #expect(settlement.token == Self.token && settlement.id == QueueFixture.id(5) && !settlement.isDelivery)
    }

    @Test func `a part of a block or of a lock is refused or read as another, and is never a trap`() throws {
        let entries = try Self.urls.indices.map(Self.entry)
        let samples =
            Block.pack(entries + (try (0..<9).map { try QueueFixture.entry($0) }), batch: 3, hasHeaders: true)
            + [try Self.lock(), try Self.delivery()]
        for bytes in samples {
            for count in 0..<min(bytes.count, 400) {
                // The bytes lie in the middle of an array, as slices do.
                let part = ([0, 0] + bytes)[2..<2 + count]
                for entry in Block(part)?.entries ?? [] { #expect(entry.url.utf8.count <= count + entry.host.utf8.count + 8) }
                _ = Self.read(Array(part))
            }
        }
    }

    @Test func `a URL's id is no block, whatever it looks like`() throws {
        // The id of http://127.0.0.1:11244/0.bin has the marks of a block of 153 jobs of a host with a short name.
        #expect(Block(try #require([UInt8](hexadecimal: "445bba2d8116fcccbd910099bb41fcd9".utf8))) == nil)
        let ids = (UInt8(64)...127).flatMap { kind in
            (UInt8(0)...5).map { length in [kind] + [UInt8](repeating: 1, count: 9) + [length] + [UInt8](repeating: 153, count: 5) }
        }
        #expect(ids.allSatisfy { Block($0) == nil })
    }

    @Test func `random bytes are no trap`() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        let valid =
            Block.pack(try (0..<9).map { try QueueFixture.entry($0) }, batch: 3, hasHeaders: false) + [
                try Self.lock(), try Self.delivery(),
            ]
        for round in 0..<1000 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            if round % 2 == 0 {
                bytes = valid[round / 2 % valid.count]
                for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random) }
            }
            if let block = Block(bytes) { #expect(block.entries.count <= 255, "seed \(seed)") }
            _ = Self.read(bytes, outcome: bytes, now: .random(in: -9...9, using: &random))
        }
        print("random jobs: seed \(seed)")
    }

    @Test func `a chunk begins with the host that has the most jobs, and a host's blocks stand together`() throws {
        let hosts = ["one", "many", "two", "many", "two", "other"] + Array(repeating: "many", count: 70)
        let entries = try hosts.enumerated().map { try JobEntry(id: QueueFixture.id($0), host: $1, url: "http://\($1)/\($0)") }
        let blocks = Block.pack(entries, batch: 1, hasHeaders: false).compactMap { Block($0) }
        #expect(blocks.map(\.host) == ["many", "many", "two", "one", "other"])
        #expect(blocks.map(\.count) == [64, 8, 2, 1, 1])
        #expect(blocks.flatMap(\.entries).count == hosts.count)
    }
}
