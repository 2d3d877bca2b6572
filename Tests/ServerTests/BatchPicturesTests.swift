import Crawl
import GannetFetch
import GannetHTTP
import GannetRedisClient
import GannetTestKit
import Lists
import Testing

@testable import GannetQueue
@testable import Results
@testable import Server

/// The index of a batch's pictures, against a real Redis.
@Suite(.timeLimit(.minutes(3))) struct BatchPicturesTests {
    /// A queue with a batch, whose jobs the test ends.
    private final class Fixture {
        let redis: RedisConnection
        let queue: FetchQueue
        /// How many each partition has seen.
        private var exchanges: [Int: Int] = [:]
        private let worker = Incarnation.random()

        init(partitions: Int = 1) async throws {
            redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: RedisServer.shared.socketPath)))
            queue = ClusterState(redis, namespace: "t\(UInt64.random(in: .min ... .max))", partitions: partitions).queue("q")
        }

        func enqueue(_ urls: [String], batch: String = "b") async throws {
            var producer = try await Producer(queue, batch: batch, from: "test \(urls.hashValue)")
            for (line, url) in urls.enumerated() { try await producer.add(Row(.line(line + 1), url: url)) }
            try await producer.finish()
        }

        /// Ends all jobs that can be claimed.
        func end(_ outcome: (String) -> OutcomeContent) async throws {
            for (index, partition) in queue.cluster.partitions.enumerated() {
                var settlements: [Settlement] = []
                while true {
                    exchanges[index, default: 0] += 1
                    var request = ExchangeRequest(worker, number: exchanges[index, default: 0], lease: .seconds(30))
                    request.settlements = settlements
                    request.wanted = 200
                    request.host = HostRule(limit: 1000, first: 1000)
                    let answer = try #require(try await queue.exchange(request, in: partition))
                    if answer.jobs.isEmpty, settlements.isEmpty, !answer.isMore { break }
                    settlements = answer.jobs.map { job in
                        let content = outcome(job.url)
                        let times = Retention(fresh: .seconds(3600), keep: .seconds(3600))
                        return Settlement(
                            job.token, job.id, content.digest == nil ? .failed(content, times) : .fetched(content, times), host: .answered)
                    }
                }
            }
        }

        func pictures(most: Int = 1000) async throws -> BatchPictures {
            BatchPictures(queue, batch: try #require(try await queue.number(ofBatch: "b")), most: most)
        }
    }

    private static func picture(_ url: String, type: String = "image/png", bytes: Int = 10) -> OutcomeContent {
        var content = OutcomeContent(url: url)
        content.status = 200
        content.digest = [UInt8](repeating: 7, count: 32)
        content.size = bytes
        content.fields[.contentType] = type
        return content
    }

    private static func failure(_ url: String) -> OutcomeContent {
        var content = OutcomeContent(url: url)
        content.status = 404
        content.fields[.errorClass] = "http-404"
        return content
    }

    private let newest = PictureArrangement(.newestFirst, east: 0)

    private func urls(_ page: BatchPictures.Page) -> [String] { page.pictures.map(\.picture.url) }

    @Test func `pictures and failures of all partitions are there, and pages are not`() async throws {
        let fixture = try await Fixture(partitions: 4)
        let all = (0..<60).map { "http://h\($0 % 7)/\($0)" }
        try await fixture.enqueue(all)
        let pictures = try await fixture.pictures()
        #expect(try await pictures.page(newest, of: nil, first: 0, count: 100).waiting == 60)
        try await fixture.end { url in
            switch url.last {
            case "1": Self.failure(url)
            case "2": Self.picture(url, type: "text/html")
            default: Self.picture(url, type: "Image/PNG; x=y")
            }
        }
        // Another index, because a look serves for a second.
        let later = try await fixture.pictures()
        let page = try await later.page(PictureArrangement(.host, east: 0), of: nil, first: 0, count: 100)
        #expect(Set(urls(page)) == Set(all.filter { $0.last != "2" }) && page.total == 54)
        #expect(page.failed == 6 && page.waiting == 0 && !page.isCut && !page.isReading)
        #expect(page.pictures.filter { $0.picture.failure?.kind == "http-404" }.count == 6)
        #expect(page.pictures.map(\.host) == page.pictures.map(\.host).sorted())
        #expect(Set(page.pictures.compactMap(\.picture.type)) == ["image/png"])
        await fixture.redis.close()
    }

    @Test(arguments: [
        (PictureArrangement.Order.largestFirst, [4, 3, 2, 1, 0]), (.smallestFirst, [0, 1, 2, 3, 4]),
    ])
    func `a page has its place in the order`(order: PictureArrangement.Order, places: [Int]) async throws {
        let fixture = try await Fixture()
        try await fixture.enqueue((0..<5).map { "http://h/\($0)" })
        try await fixture.end { Self.picture($0, bytes: 100 + (Int($0.suffix(1)) ?? 0)) }
        let pictures = try await fixture.pictures()
        for first in 0...6 {
            let page = try await pictures.page(PictureArrangement(order, east: 0), of: nil, first: first, count: 2)
            #expect(urls(page) == places.dropFirst(first).prefix(2).map { "http://h/\($0)" } && page.total == 5)
        }
        for (place, number) in places.enumerated() {
            let id = try RequestedURL("http://h/\(number)").id
            #expect(try await pictures.page(PictureArrangement(order, east: 0), of: nil, first: 0, count: 1, placeOf: id).place == place)
        }
        let none = try RequestedURL("http://elsewhere/").id
        #expect(try await pictures.page(PictureArrangement(order, east: 0), of: nil, first: 0, count: 1, placeOf: none).place == nil)
        await fixture.redis.close()
    }

    @Test(arguments: [0, 60, -300, 840]) func `sections begin where the client's days do`(offset: Int) async throws {
        let fixture = try await Fixture()
        try await fixture.enqueue(["http://h/1", "http://h/2"])
        try await fixture.end { Self.picture($0) }
        let pictures = try await fixture.pictures()
        let page = try await pictures.page(PictureArrangement(.newestFirst, by: .day, east: offset), of: nil, first: 0, count: 10)
        let ended = try #require(page.pictures.first?.picture.endedAt.millisecondsSince1970) / 1000
        let start = try #require(page.sections.first?.start?.millisecondsSince1970) / 1000
        let (east, day) = (Int64(offset * 60), Int64(86_400))
        #expect(start == (ended + east) / day * day - east && page.sections.map(\.count) == [2])
        await fixture.redis.close()
    }

    @Test func `a URL that is tried again keeps its place in the index`() async throws {
        let fixture = try await Fixture()
        try await fixture.enqueue(["http://h/1", "http://h/2"])
        try await fixture.end { $0.hasSuffix("1") ? Self.failure($0) : Self.picture($0) }
        let first = try await fixture.pictures()
        #expect(try await first.page(newest, of: nil, first: 0, count: 10).failed == 1)
        #expect(try await fixture.queue.retry(JobSelection(.dead)).count == 1)
        try await fixture.end { Self.picture($0) }
        let later = try await fixture.pictures().page(newest, of: nil, first: 0, count: 10)
        #expect(later.total == 2 && later.failed == 0)
        await fixture.redis.close()
    }

    @Test func `the index ends at its bound, and says so`() async throws {
        let fixture = try await Fixture(partitions: 3)
        try await fixture.enqueue((0..<50).map { "http://h\($0)/" })
        try await fixture.end { Self.picture($0) }
        let page = try await fixture.pictures(most: 20).page(newest, of: nil, first: 0, count: 100)
        #expect(page.total == 20 && page.pictures.count == 20 && page.isCut)
        await fixture.redis.close()
    }

    @Test func `pictures that lay in a run's folder are in the gallery before the first new picture, and beside new pictures`() async throws
    {
        let temporary = try TemporaryFolder()
        let folder = try await RecordedFolder.open(BodyFolder(temporary.path))
        var ids: [String: URLID] = [:]
        for (name, type) in [("1", "image/png; x=y"), ("2", "text/html"), ("3", "image/gif"), ("4", "image/png")] {
            let url = "http://h/\(name)"
            let id = try RequestedURL(url).id
            ids[url] = id
            var record = JobRecord(id)
            (record.status, record.bytes, record.contentType) = (200, name.utf8.count, type)
            record.digest = SHA256Digest(of: name.utf8).bytes
            record.file = try folder.folder.place(try temporary.write(Array(name.utf8), to: ".gannet-x"), of: url, id: id)
            _ = try folder.journal.append(record)
        }
        let found = FoundPictures()
        found.begin(with: folder)
        let fixture = try await Fixture()
        for url in ids.keys.sorted().dropLast() { try found.note(try #require(ids[url]), url) }
        let early = BatchPictures(fixture.queue, batch: 0, most: 100, found: found)
        let before = try await early.page(PictureArrangement(.host, east: 0), of: nil, first: 0, count: 10)
        #expect(Set(urls(before)) == ["http://h/1", "http://h/3"] && before.waiting == 0 && !before.isReading)
        #expect(before.pictures.first { $0.picture.url == "http://h/1" }?.picture.type == "image/png")

        // A picture that is fetched again replaces the older picture.
        try await fixture.enqueue(["http://h/3", "http://h/5"])
        try await fixture.end { Self.picture($0, bytes: 99) }
        let number = try #require(try await fixture.queue.number(ofBatch: "b"))
        let after = try await BatchPictures(fixture.queue, batch: number, most: 100, found: found)
            .page(PictureArrangement(.smallestFirst, east: 0), of: nil, first: 0, count: 10)
        #expect(urls(after).first == "http://h/1" && Set(urls(after)) == ["http://h/1", "http://h/3", "http://h/5"])
        #expect(after.pictures.map(\.picture.bytes) == [1, 99, 99])

        // The list has its bound, also where the pictures of the folder fill it.
        let small = FoundPictures(most: 1)
        small.begin(with: folder)
        for url in ids.keys.sorted() { try small.note(try #require(ids[url]), url) }
        let cut = try await BatchPictures(fixture.queue, batch: number, most: 100, found: small)
            .page(newest, of: nil, first: 0, count: 10)
        #expect(cut.isCut && cut.total == 1)
        let id = try #require(ids["http://h/4"])
        let kept = try #require(try found.body(of: id))
        #expect(kept.folder.body(kept.content) == Array("4".utf8))
        try temporary.write([0], to: folder.folder.name(of: "http://h/4", id: id))
        #expect(kept.folder.body(kept.content) == nil)
        await fixture.redis.close()
    }

    @Test func `favourites are those of the batch alone`() async throws {
        let fixture = try await Fixture()
        try await fixture.enqueue(["http://h/1", "http://h/2"])
        try await fixture.end { Self.picture($0) }
        let pictures = try await fixture.pictures()
        let liked = [try RequestedURL("http://h/2").id, try RequestedURL("http://elsewhere/").id]
        let page = try await pictures.page(newest, of: liked, first: 0, count: 10)
        #expect(urls(page) == ["http://h/2"] && page.total == 1)
        await fixture.redis.close()
    }

    @Test func `fifty clients that watch a queue cost Redis one look`() async throws {
        // A server of its own, where nobody else asks.
        let server = try await RedisServer.start()
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: server.socketPath)))
        let queue = ClusterState(redis, namespace: "n", partitions: 1).queue("q")
        func commands(_ body: () async -> Void) async throws -> Int {
            func processed() async throws -> Int {
                let lines = try await redis.send(RedisCommand("INFO", "stats")).asString().split(separator: "\r\n")
                return lines.first { $0.hasPrefix("total_commands_processed:") }.flatMap { Int($0.split(separator: ":")[1]) } ?? 0
            }
            let before = try await processed()
            await body()
            return try await processed() - before
        }
        let alone = SharedLooks(queue.cluster)
        let one = try await commands { _ = await alone.look(at: queue) }
        let shared = SharedLooks(queue.cluster)
        let fifty = try await commands {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { _ = await shared.look(at: queue) } }
            }
        }
        #expect(one > 1 && fifty == one)
        await redis.close()
        try await server.stop()
    }

    @Test func `the batch that was unused for longest makes room for the pictures of others`() async throws {
        let fixture = try await Fixture()
        let index = PictureIndex(most: 5)
        var batches: [(number: Int, pictures: BatchPictures)] = []
        for name in ["a", "b", "c"] {
            try await fixture.enqueue((0..<3).map { "http://h/\(name)\($0)" }, batch: name)
            try await fixture.end { Self.picture($0) }
            let number = try #require(try await fixture.queue.number(ofBatch: name))
            let pictures = await index.pictures(of: number, in: fixture.queue)
            _ = try await pictures.page(newest, of: nil, first: 0, count: 10)
            #expect(await pictures.count == 3)
            batches.append((number, pictures))
        }
        // The first two had six pictures together when the third came.
        for batch in batches[1...] { #expect(await index.pictures(of: batch.number, in: fixture.queue) === batch.pictures) }
        #expect(await index.pictures(of: batches[0].number, in: fixture.queue) !== batches[0].pictures)
    }
}
