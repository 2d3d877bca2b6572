import Foundation
import GannetHTTP
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue

@Suite(.timeLimit(.minutes(3))) struct WorkerFailureTests {
    @Test func `a disk that takes no body ends the worker and costs no job anything`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<20)
            let downloader = ScriptedDownloader { $0.hasSuffix("/2") ? .failure(.storage) : .held }
            let worker = try await fixture.start(downloader) { $0.concurrency = 5 }
            guard case .failure(let error) = await worker.end else { return #expect(Bool(false), "it went on") }
            #expect("\(error)".hasPrefix("The body could not be stored (http://h/2)"))
            #expect(try await fixture.queue.counts() == QueueCounts(ready: 20, enqueued: 20))
            #expect(try fixture.files() == [])
        }
    }

    @Test func `a machine without a free descriptor ends the worker and costs no job anything`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<20)
            let downloader = ScriptedDownloader { $0.hasSuffix("/2") ? .failure(.systemLimit) : .held }
            let worker = try await fixture.start(downloader) { $0.concurrency = 5 }
            guard case .failure(let error) = await worker.end else { return #expect(Bool(false), "it went on") }
            #expect("\(error)".hasPrefix("This machine lacks what a fetch needs (http://h/2)"))
            #expect(try await fixture.queue.counts() == QueueCounts(ready: 20, enqueued: 20))
        }
    }

    @Test func `a body that cannot be moved to its place ends the worker, and nothing is left behind`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3)
            // This file is in the place of the folder for these bodies.
            try fixture.folder.write([1], to: "000")
            let worker = try await fixture.start(ScriptedDownloader { .body($0) })
            guard case .failure(let error) = await worker.end else { return #expect(Bool(false), "it went on") }
            #expect("\(error)" == "\(fixture.folder.path)/000 is not a folder. Remove it.")
            #expect(try await fixture.queue.counts() == QueueCounts(ready: 3, enqueued: 3))
            #expect(try fixture.files() == ["000"])
        }
    }

    @Test func `a job without a URL ends as failed, and jobs that cannot be read are reported once as missing`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<3)
            // Entries that another program, and a broken version, would have put there.
            let ready = RedisArgument.string("{\(fixture.namespace)}q:q:ready:normal")
            var notText = Block.pack([JobEntry(checked: WorkerFixture.id(9), "h", "http://h/9")], batch: 1, hasHeaders: false)[0]
            notText[notText.count - 1] = 0xff
            try await fixture.redis.send(RedisCommand("RPUSH", ready, .bytes(notText)))
            for _ in 0..<5 { try await fixture.redis.send(RedisCommand("RPUSH", ready, .bytes([UInt8](repeating: 2, count: 40)))) }
            for key in ["queue", "batch:1"] {
                let field: RedisArgument = key == "queue" ? "enqueued" : "total"
                try await fixture.redis.send(RedisCommand("HINCRBY", .string("{\(fixture.namespace)}q:q:\(key)"), field, "6"))
            }
            let worker = try await fixture.start(ScriptedDownloader { .body($0) }, listens: false) { $0.concurrency = 2 }
            #expect(await worker.end.end == .missing)
            #expect(worker.count { if case .missing = $0 { true } else { false } } == 1)
            #expect(worker.count { if case .givenUp(1) = $0 { true } else { false } } == 1)
            #expect(worker.count(where: \.isFetched) == 3)
            let counts = try await fixture.queue.counts()
            #expect(counts.ready == 5 && counts.active == 0 && counts.done == 3 && counts.failed == 1)
        }
    }

    @Test func `a queue that is not one ends the worker`() async throws {
        try await WorkerFixture.with { fixture in
            try await fixture.fill(0..<1)
            try await fixture.redis.send(RedisCommand("SET", .string("{\(fixture.namespace)}q:q:ready:normal"), "x"))
            let worker = try await fixture.start(ScriptedDownloader { .body($0) })
            guard case .failure(let error as StateError) = await worker.end else { return #expect(Bool(false), "it went on") }
            #expect(error.reason == .unavailable)
            #expect(error.description.contains("choose another namespace"))
        }
    }

    @Test func `a Redis that stays away ends the worker when its patience is over`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server, patience: .milliseconds(300), timeout: .milliseconds(500)) { fixture in
            try await fixture.fill(0..<4)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) {
                $0.concurrency = 2
                $0.outagePatience = .zero
                $0.handBackTimeout = .milliseconds(50)
            }
            await downloader.waitForStarts(2)
            try await server.stop()
            // The worker cannot settle the fetched job, and does not wait longer for that than for other calls.
            downloader.open()
            guard case .failure(let error as StateError) = await worker.end else { return #expect(Bool(false), "it went on") }
            #expect(error.reason == .unavailable)
        }
    }

    @Test func `a worker whose places are all taken says that Redis is away, and that it is back`() async throws {
        let server = try await RedisServer.start(.init { $0.appendOnly = true })
        try await WorkerFixture.with(server, timeout: .milliseconds(500)) { fixture in
            try await fixture.fill(0..<2)
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) {
                $0.concurrency = 2
                $0.lease = .seconds(1)
            }
            await downloader.waitForStarts(2)
            try await server.kill9()
            await worker.wait { if case .redis(.began) = $0 { true } else { false } }
            downloader.open()
            try await server.restart()
            await worker.wait { if case .redis(.ended) = $0 { true } else { false } }
            #expect(await worker.end.end == .empty)
            #expect(try await fixture.queue.counts().isEmpty)
        }
        try await server.stop()
    }

    @Test(arguments: [true, false])
    func `a worker says at once that a killed Redis cannot be reached, and that it is back`(isBusy: Bool) async throws {
        let server = try await RedisServer.start(.init { $0.appendOnly = true })
        try await WorkerFixture.with(server, timeout: .seconds(3600)) { fixture in
            let downloader = ScriptedDownloader { _ in .held }
            let worker = try await fixture.start(downloader) {
                $0.endsWhenEmpty = false
                // Neither a renewal nor a look asks Redis for anything.
                $0.lease = .seconds(3600)
                $0.concurrency = 1
            }
            if isBusy {
                try await fixture.fill(0..<1)
                await downloader.waitForStarts(1)
            } else {
                try await eventually("the worker is idle") {
                    try await fixture.redis.send(RedisCommand("ZCARD", .string("{\(fixture.namespace)}q:q:idle"))).asInteger() == 1
                }
            }
            try await server.kill9()
            await worker.wait { if case .redis(.began) = $0 { true } else { false } }
            let told = worker.reports.compactMap { if case .redis(.began(let sentence, _)) = $0 { sentence } else { nil } }
            // A process that is being killed may still take a connection, and end it.
            let causes = ["Connection refused", "it closed the connection before its greeting was complete"]
            #expect(
                told.count == 1 && causes.contains { told[0] == "Redis at unix://\(server.socketPath): cannot be reached (\($0))" },
                "\(told)")
            await #expect(throws: StateError.self) {
                try await fixture.queue.cluster.within(.seconds(3600)) { try await fixture.queue.counts() }
            }
            try await server.restart()
            downloader.open()
            await worker.wait { if case .redis(.ended) = $0 { true } else { false } }
            worker.stop()
            #expect(await worker.end.end == .drained)
        }
        try await server.stop()
    }

    @Test func `a worker says that Redis is silent long before its command is given up, and that Redis answers again`() async throws {
        let server = try await RedisServer.start()
        try await WorkerFixture.with(server, timeout: .seconds(3600)) { fixture in
            let worker = try await fixture.start(ScriptedDownloader { .body($0) }) {
                $0.endsWhenEmpty = false
                $0.idleLook = .milliseconds(10)
            }
            server.pause()
            await worker.wait { if case .redis(.began) = $0 { true } else { false } }
            server.resume()
            await worker.wait { if case .redis(.ended) = $0 { true } else { false } }
            let told = worker.reports.compactMap { if case .redis(.began(let sentence, _)) = $0 { sentence } else { nil } }
            #expect(told == ["Redis at unix://\(server.socketPath): did not answer a command in time"])
            worker.stop()
            #expect(await worker.end.end == .drained)
        }
        try await server.stop()
    }

    @Test func `a URL that three workers died with fails without a request, and no attempt is charged for that`() async throws {
        let server = try await RedisServer.start(.init { $0.movableClock = true })
        try await WorkerFixture.with(server) { fixture in
            try await fixture.fill(0..<1)
            for crashes in 1...3 {
                // The first call only sets the URL aside, for a worker that has no such URL.
                try await eventually("a worker has the job") { try await fixture.claim(1, lease: .seconds(15)).count == 1 }
                try await eventually("the job is taken back") {
                    server.clock.advance(by: .seconds(5))
                    _ = try await fixture.claim(0, lease: .seconds(15))
                    return try await fixture.queue.counts().crashed == crashes
                }
            }
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader)
            #expect(await worker.end.end == .empty)
            #expect(downloader.urls == [])
            let dead = try await fixture.queue.jobs(JobSelection(.dead), limit: 2).jobs
            #expect(dead.map(\.crashes) == [3] && dead.map(\.failures) == [0])
            #expect(dead.first?.error?.fields[.errorClass] == ExchangeRequest.poisonClass)
        }
        try await server.stop()
    }

    @Test func `a Redis that crashes and comes back costs nothing but time`() async throws {
        let server = try await RedisServer.start(.init { $0.appendOnly = true })
        try await WorkerFixture.with(server) { fixture in
            let count = 300
            try await fixture.fill(0..<count)
            let downloader = ScriptedDownloader { .body($0) }
            let worker = try await fixture.start(downloader) {
                $0.concurrency = 8
                $0.lease = .seconds(1)
                $0.idleLook = .milliseconds(200)
            }
            for _ in 0..<2 {
                await downloader.waitForStarts(50)
                try await server.kill9()
                try await server.restart()
            }
            #expect(await worker.end.end == .empty)
            let counts = try await fixture.queue.counts()
            #expect(counts.enqueued == count && counts.done == count && counts.failed == 0)
            #expect(Set(downloader.urls).count == count)
            #expect(try fixture.files().count == count)
        }
        try await server.stop()
    }
}
