import Foundation
import GannetTestKit
import Testing

@testable import GannetFetch

struct PictureListTests {
    /// A list of images at a clock of the test's own.
    private static func list(
        _ pictures: [Picture], _ fetcher: Fetcher, _ clock: TestClock, _ options: PictureListOptions = PictureListOptions()
    ) -> PictureList<FetchedImage> {
        PictureList(pictures, options, clock.clock, measure: { Int64($0.data.count) }, begin: { fetcher.imageTask(for: $0) })
    }

    /// Shows cells anywhere, and stays there.
    private static func jump(_ list: PictureList<some Sendable>, to ids: [Picture.ID], _ clock: TestClock) async throws {
        list.show(ids)
        try await list.acted()
        clock.advance(by: .seconds(1))
    }

    @Test func `a cell waits, loads, and has its picture or the reason why there is none`() async throws {
        let answers = ScriptedAnswers { path, _ in path == "/1" ? .text : path == "/2" ? .failure(.status(404)) : .held }
        let list = PictureList(Samples.pictures(4), fetcher: try answers.fetcher(), PictureListOptions { $0.ahead = 0 })
        var updates = list.updates.makeAsyncIterator()
        let first = try #require(await updates.next())
        #expect(first.isRearranged && first.changed.isEmpty && first.isSettled && first.contents.pictures.count == 4)
        list.show(Samples.ids(0..<3))
        var seen: [String: [String]] = [:]
        while let update = await updates.next() {
            for id in update.changed { seen[id, default: ["waiting"]].append(update[id].name) }
            if update.isSettled { break }
            // As soon as the others have failed, the first picture may come.
            if update.cells.values.count(where: { $0.name == "failed" }) == 2 { answers.open() }
        }
        #expect(seen.keys.sorted() == ["0", "1", "2"])
        #expect(seen["0"]?.first == "waiting" && seen["0"]?.contains("loading") == true && seen["0"]?.last == "picture")
        let current = await list.current
        guard case .picture(let image) = current["0"], case .failed(let notAPicture) = current["1"],
            case .failed(let notThere) = current["2"]
        else {
            Issue.record("\(current.cells)")
            return
        }
        #expect(image.format == .png)
        #expect(notAPicture.kind == .unexpectedContent && notThere.kind == .status(404))
        #expect(current["3"] == .waiting)
    }

    @Test func `of 100,000 cells that pass at full speed only those are requested that were near the screen where it stopped`() async throws
    {
        let answers = ScriptedAnswers()
        let fetcher = try answers.fetcher(FetcherOptions { $0.memoryLimit = 1_000_000 })
        let clock = TestClock()
        let options = PictureListOptions {
            $0.ahead = 10
            $0.behind = 10
        }
        let list = Self.list(Samples.pictures(100_000), fetcher, clock, options)
        let ids = Samples.ids(0..<100_000)
        let memory = try ProcessMemory.resident()
        var wanted: Set<String> = []
        // Down to the end, and up again. It stops at these cells.
        // The first call after a rest is one for the same cells, as of a finger that touches the list.
        for (from, to) in [(0, 0), (0, 33_333), (33_333, 99_970), (99_970, 50_000), (50_000, 0)] {
            list.show(ids[from..<from + 30])
            try await list.acted()
            for first in stride(from: from, through: to, by: from <= to ? 1 : -1) { list.show(ids[first..<first + 30]) }
            try await list.acted()
            clock.advance(by: options.dwell)
            let update = try await list.settled()
            let near = from <= to ? to..<min(to + 40, 100_000) : max(0, to - 10)..<to + 30
            wanted.formUnion(near.map { "/\($0)" })
            #expect(near.allSatisfy { update["\($0)"].name == "picture" })
            let held = await list.heldCells
            #expect(held <= 50 && update.cells.count <= 50)
            let asked = Set(answers.asked)
            #expect(asked == wanted, "\(asked.symmetricDifference(wanted).count) differ")
        }
        #expect(answers.asked.count == wanted.count, "no cell is requested twice: the fetcher has kept those of the first stop")
        #expect(wanted.count <= 200)
        print("100,000 cells and back: \(wanted.count) requests, \(try ProcessMemory.resident() - memory) bytes more")
    }

    @Test func `cells that have scrolled away are cancelled, and wait again`() async throws {
        let answers = ScriptedAnswers { _, _ in .held }
        let clock = TestClock()
        let list = Self.list(Samples.pictures(1000), try answers.fetcher(), clock, PictureListOptions { $0.ahead = 5 })
        list.show(Samples.ids(0..<10))
        try await answers.waitForRequests(15)
        try await Self.jump(list, to: Samples.ids(500..<510), clock)
        try await answers.waitForRequests(30)
        try await answers.waitForCancellations(15)
        #expect(Set(answers.cancelled) == Set((0..<15).map { "/\($0)" }))
        answers.open()
        let update = try await list.settled()
        #expect(Set(update.cells.keys) == Set(Samples.ids(500..<515)))
    }

    @Test func `cells on the screen are fetched before those ahead, also if they were ahead first`() async throws {
        let fetcher = try ScriptedAnswers { _, _ in .held }.fetcher()
        let clock = TestClock()
        let tasks = Monitor<[String: FetchTask<FetchedImage>]>([:])
        let begin = { @Sendable (request: FetchRequest) in
            let task = fetcher.imageTask(for: request)
            tasks.update { $0[request.url.path] = task }
            return task
        }
        let options = PictureListOptions { $0.ahead = 3 }
        let list = PictureList(Samples.pictures(100), options, clock.clock, measure: { _ in nil }, begin: begin)
        func priorities() -> [String: FetchPriority] { tasks.update { $0.mapValues(\.priority) } }

        list.show(["0"])
        try await list.acted()
        #expect(priorities() == ["/0": .high, "/1": .low, "/2": .low, "/3": .low])
        clock.advance(by: .seconds(1))
        list.show(["1", "2"])
        try await list.acted()
        #expect(priorities() == ["/0": .high, "/1": .high, "/2": .high, "/3": .low, "/4": .low, "/5": .low])
    }

    @Test func `a failed cell is fetched once more when the user asks for it`() async throws {
        let answers = ScriptedAnswers { _, before in before == 0 ? .failure(.status(404)) : .picture }
        let list = PictureList(Samples.pictures(1), fetcher: try answers.fetcher())
        list.show(["0"])
        let failed = try await list.settled()
        #expect(failed["0"].name == "failed")
        await list.retry("0")
        let loaded = try await list.settled()
        #expect(loaded["0"].name == "picture")
        await list.retry("0")
        #expect(answers.asked == ["/0", "/0"])
    }

    @Test func `a slow reader gets the latest states, and nothing piles up for it`() async throws {
        let answers = ScriptedAnswers()
        let clock = TestClock()
        let list = Self.list(
            Samples.pictures(10_000), try answers.fetcher(), clock,
            PictureListOptions {
                $0.ahead = 0
                $0.behind = 0
            })
        var slow = list.updates.makeAsyncIterator()
        list.show(Samples.ids(0..<10))
        _ = try await list.settled()
        let first = try #require(await slow.next())
        #expect(first.changed == Samples.ids(0..<10))
        for page in 1..<200 {
            try await Self.jump(list, to: Samples.ids(page * 10..<page * 10 + 10), clock)
            _ = try await list.settled()
        }
        let last = try #require(await slow.next())
        // The ten that it knew are gone, the last ten are new, and of those in between it never hears.
        #expect(last.changed == Samples.ids(0..<10) + Samples.ids(1990..<2000))
        #expect(last["5"] == .waiting && last["1995"].name == "picture")
        #expect(last.seen.cells.count == 10 && !last.isRearranged)
    }

    @Test func `each of several readers sees all that there is`() async throws {
        let list = PictureList(Samples.pictures(50), fetcher: try ScriptedAnswers().fetcher())
        let readers = (0..<5).map { _ in
            Task { () -> Set<String> in
                var seen: Set<String> = []
                for await update in list.updates {
                    for id in update.changed where update[id].name == "picture" { seen.insert(id) }
                    if seen.count == 50 { break }
                }
                return seen
            }
        }
        list.show(Samples.ids(0..<50))
        for reader in readers {
            let seen = await reader.value
            #expect(seen.count == 50)
        }
    }

    @Test func `a list that nobody holds cancels its fetches, and its readers end`() async throws {
        let answers = ScriptedAnswers { _, _ in .held }
        var list: PictureList? = PictureList(Samples.pictures(3), fetcher: try answers.fetcher())
        let updates = try #require(list).updates
        let reader = Task {
            for await _ in updates {}
        }
        list?.show(Samples.ids(0..<3))
        try await answers.waitForRequests(3)
        list = nil
        try await answers.waitForCancellations(3)
        await reader.value
        for await _ in updates { Issue.record("a list that is gone has no state") }
    }

    @Test func `a value of the user's own is shown, and kept by the fetcher`() async throws {
        let origin = try await Origin.start(
            .init { $0.directives = "location / { add_header Cache-Control max-age=3600; return 200 $uri; }" })
        let fetcher = try Fetcher(FetcherOptions { $0.allowedNetworks = ["all"] })
        let pictures = try (0..<1000).map { Picture(try #require(URL(string: origin.url("/\($0)"))), id: "\($0)") }
        let clock = TestClock()
        let options = PictureListOptions {
            $0.ahead = 5
            $0.behind = 0
        }
        let begin = { @Sendable (request: FetchRequest) in fetcher.task(for: request) { String(decoding: $0, as: UTF8.self) } }
        let list = PictureList(pictures, options, clock.clock, measure: { _ in nil }, begin: begin)
        for first in [0, 400, 0] {
            try await Self.jump(list, to: Samples.ids(first..<first + 10), clock)
            let update = try await list.settled()
            let shown = (first..<first + 10).allSatisfy { update["\($0)"] == .picture("/\($0)") }
            #expect(shown)
        }
        let paths = try await origin.requests().map(\.path)
        // The way back to the beginning is a scroll upwards, and there is nothing ahead.
        #expect(Set(paths) == Set(((0..<15) + Array(400..<415)).map { "/\($0)" }) && paths.count == 30)
        let sizes = await list.learntSizes
        #expect(sizes["3"] == 2 && sizes["404"] == 4 && sizes["500"] == nil)
        await fetcher.close()
        try await origin.stop()
    }

    @Test func `a cell tells how much of its picture has come, and a transfer that scrolled away is ended`() async throws {
        let half: [HostileServer.Step] = [
            .readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "a", count: 400)), .silence,
        ]
        let server = try HostileServer(scripts: [half])
        let fetcher = try Fetcher(FetcherOptions { $0.allowedNetworks = ["all"] })
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        let list = PictureList([Picture(url, id: "half")], fetcher: fetcher)
        list.show(["half"])
        for await update in list.updates {
            if update["half"] == .loading(FetchProgress(received: 400, expected: 1000)) { break }
        }
        list.show([])
        try await server.ended(1)
        let update = try await list.settled()
        #expect(update["half"] == .waiting && update.cells.isEmpty)
        await fetcher.close()
        try await server.stop()
    }
}
