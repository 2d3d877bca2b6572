import GannetTestKit
import Testing

@testable import Crawl
@testable import GannetQueue
@testable import Results

/// Where readers find the bodies that workers have stored.
@Suite(.timeLimit(.minutes(3))) struct StoredBodiesTests {
    @Test func `a reader finds a body in whichever store has it, and asks Redis last`() async throws {
        try await WorkerFixture.with { fixture in
            let cluster = fixture.queue.cluster
            let (one, other) = (try BodyFolder(fixture.folder.file("one")), try BodyFolder(fixture.folder.file("other")))
            let bodies = try await fixture.redisBodies()
            let outputs: [any JobOutput] = [other, bodies]
            var outcomes: [URLOutcome] = []
            for (number, output) in outputs.enumerated() {
                try await fixture.fill([number], batch: "batch \(number)")
                let worker = try await fixture.start(ScriptedDownloader { .body($0) }, output: output)
                #expect(await worker.end.end == .empty)
                outcomes.append(try #require(try await cluster.outcome(WorkerFixture.id(number), host: "h")))
            }
            bodies.close()
            let (inFolder, inRedis) = (outcomes[0], outcomes[1])
            #expect(other.keeps(inFolder.content.place) && !other.keeps(.redis) && inRedis.content.place == .redis)
            #expect(!one.keeps(inFolder.content.place) && !other.keeps(.file("../other")))
            #expect(try await cluster.body(of: inFolder, in: [one, other]) == Array(WorkerFixture.url(0).utf8))
            #expect(try await cluster.body(of: inFolder, in: [one]) == nil)
            #expect(try await cluster.body(of: inRedis, in: [one, other]) == Array(WorkerFixture.url(1).utf8))
            #expect(try await cluster.body(of: inRedis, in: []) == Array(WorkerFixture.url(1).utf8))
        }
    }
}
