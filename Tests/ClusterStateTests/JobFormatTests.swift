import GannetBasics
import Testing

@testable import ClusterState

/// Jobs as bytes: jobs are read as they were written, and no foreign bytes are a trap.
@Suite struct JobFormatTests {
    private static let urls: [(host: String, url: String, isLean: Bool)] = [
        ("example.com", "http://example.com/", true), ("example.com", "https://EXAMPLE.com/a", false), ("h", "h", true),
        ("a.example", "http://user@a.example:8080/?q=é", true), ("xn--e1a", "http://е/", false),
        (String(repeating: "h", count: 255), "http://" + String(repeating: "h", count: 255), true),
        ("far.example", "http://" + String(repeating: "u", count: 90) + "@far.example/", false),
        ("a", "http://" + String(repeating: "b", count: 8184) + "a", false), ("[::1]", "http://[::1]/", true),
    ]

    @Test(arguments: urls.indices) func `an entry is read as it was written`(index: Int) throws {
        let (host, url, isLean) = Self.urls[index]
        let entry = try JobEntry(id: QueueFixture.id(3), host: host, url: url)
        #expect(JobEntry(entry.bytes[...]) == entry)
        #expect(entry.bytes.first == UInt8(ascii: isLean ? "j" : "x"))
        #expect(entry.bytes.count == (isLean ? 19 : 18 + host.utf8.count) + url.utf8.count)
    }

    static func job(throttled: Int = 0) throws -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "J")]
        bytes.append(number: 7, count: 4)
        bytes.append(number: 1_000_000, count: 6)
        bytes += [2, 3]
        bytes.append(number: throttled, count: 6)
        bytes += [1, UInt8(ascii: "q")]
        return bytes + (try QueueFixture.entry(5).bytes)
    }

    @Test func `a leased job is read as a script writes it`() throws {
        let token = LockToken([1])
        let job = try #require(Job(token: token, job: try Self.job(throttled: 999_000), outcome: nil, now: 1_005_000))
        #expect(job.token == token && job.queue == "q" && job.batch == 7 && job.enqueued == 1_000_000)
        #expect(job.crashes == 2 && job.failures == 3 && job.throttled == .seconds(6))
        #expect(job.entry == (try QueueFixture.entry(5)))
        #expect(Job.id(of: try Self.job()) == QueueFixture.id(5))
        // A clock that went back makes no time negative.
        #expect(Job(token: token, job: try Self.job(throttled: 999_000), outcome: nil, now: 5)?.throttled == .zero)
        #expect(Job(token: token, job: try Self.job(), outcome: nil, now: 5)?.throttled == .zero)
    }

    @Test func `a job whose URL is not valid UTF-8 has an id all the same`() throws {
        let bytes = try Self.job() + [0xff]
        #expect(Job(token: LockToken([]), job: bytes, outcome: nil, now: 0) == nil)
        #expect(Job.id(of: bytes) == QueueFixture.id(5))
    }

    @Test func `a part of an entry or of a job is refused or read as another, and is never a trap`() throws {
        let samples = try Self.urls.map { try JobEntry(id: QueueFixture.id(3), host: $0.host, url: $0.url).bytes } + [try Self.job()]
        for bytes in samples {
            for count in 0..<min(bytes.count, 400) {
                // The bytes lie in the middle of an array, as slices do.
                let prefix = ([0, 0] + bytes)[2..<2 + count]
                if let entry = JobEntry(prefix) { #expect(entry.bytes.count <= count && bytes[0] != UInt8(ascii: "J")) }
                if let job = Job(token: LockToken([]), job: Array(prefix), outcome: nil, now: 0) { #expect(!job.entry.url.isEmpty) }
                _ = Job.id(of: Array(prefix))
            }
        }
    }

    @Test func `random bytes are no trap`() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        let valid = [try QueueFixture.entry(5).bytes, try JobEntry(id: QueueFixture.id(1), host: "a", url: "b").bytes, try Self.job()]
        for round in 0..<1000 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            if round % 2 == 0 {
                bytes = valid[round / 2 % valid.count]
                for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random) }
            }
            if let entry = JobEntry(bytes[...]) { #expect(!entry.url.isEmpty, "seed \(seed)") }
            _ = Job(token: LockToken([]), job: bytes, outcome: nil, now: .random(in: -9...9, using: &random))
            _ = Job.id(of: bytes)
        }
        print("random jobs: seed \(seed)")
    }
}
