import Foundation
import GannetTestKit
import Testing

/// Batches whose bodies fill Redis, and commands that make room.
@Suite(.timeLimit(.minutes(3))) struct HeldBatchTests {
    private struct Lists {
        let fleet: Fleet
        /// Each has about two thirds of the room.
        let names = ["a", "b"]

        init() async throws {
            fleet = try await Fleet.start {
                $0.fileCount = 40
                $0.largestFile = 90_000
                // Their sizes are spread alike for each seed.
                $0.seed = 3
            }
        }

        func enqueue(_ index: Int, _ more: String...) async throws -> Program.Outcome {
            let urls = fleet.origin.urls[(20 * index)..<(20 * index + 20)]
            return try await fleet.outcome(["enqueue", "--batch", names[index]] + more + urls + fleet.connection)
        }

        var work: [String] { ["work", "--until-empty", "--cache-limit", "1MB"] + fleet.local + fleet.connection }

        func export(_ name: String) async throws -> Program.Outcome {
            try await fleet.outcome(["export", "--batch", name, "-d", fleet.folder.file(name)] + fleet.connection)
        }

        func batch(_ words: String...) async throws -> Program.Outcome {
            try await fleet.outcome(["batch"] + words + fleet.connection)
        }
    }

    private static let told = "nobody has exported the batches 'a', 'b'. 'gannet export --batch a -d DIR' makes room, and so does"

    @Test func `workers wait for an export when Redis is full of what nobody has, say so, and lose nothing`() async throws {
        let lists = try await Lists()
        for index in 0...1 { #expect(try await lists.enqueue(index).status == 0) }
        let worker = try lists.fleet.start(lists.work)
        let line = try await worker.errors.line { $0.contains(Self.told) }
        #expect(line?.contains("The worker takes no more jobs until then.") == true, "\(worker.errors.text)")

        try await eventually("onlookers hear of it") {
            try await lists.fleet.outcome(["workers", "list"] + lists.fleet.connection).output.contains("waits for an export")
        }
        let status = try await lists.fleet.outcome(["status"] + lists.fleet.connection).output
        #expect(status.replacing(/\s+/, with: " ").contains("there is no room for more bodies: " + Self.told), "\(status)")
        let json = try await lists.fleet.outcome(["status", "--json"] + lists.fleet.connection).output
        #expect(json.contains(#""heldBatches":[{"queue":"default","batch":"a"},{"queue":"default","batch":"b"}]"#), "\(json)")
        let waited = try await lists.batch("wait", "b", "--timeout", "1s")
        #expect(waited.status == 75 && waited.errors.contains("there is no room for more bodies: " + Self.told), "\(waited.errors)")

        let first = try await lists.export("a")
        #expect(first.status == 0 && first.output.hasPrefix("20 bodies written"), "\(first.output)\(first.errors)")
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        #expect(worker.errors.text.contains("Redis has room for bodies again"))
        #expect(try await lists.batch("wait", "b").status == 0)
        let second = try await lists.export("b")
        #expect(second.status == 0 && second.output.hasPrefix("20 bodies written"), "\(second.output)\(second.errors)")
        try await lists.fleet.stop()
    }

    @Test func `a worker that is stopped while it waits for room does not tell of requests in flight`() async throws {
        let lists = try await Lists()
        for index in 0...1 { #expect(try await lists.enqueue(index).status == 0) }
        let worker = try lists.fleet.start(lists.work)
        _ = try await worker.errors.line { $0.contains(Self.told) }
        worker.signal(SIGTERM)
        let line = try #require(try await worker.errors.line { $0.hasPrefix("gannet: stopping; ") })
        #expect(
            line.hasSuffix(
                " wait for room for their bodies. Without it within 25.0 s they are handed back, and fetched again later. Stop again to leave at once."
            ), "\(line)")
        worker.signal(SIGTERM)
        #expect(try await worker.exitStatus == .exited(143), "\(worker.errors.text)")
        try await lists.fleet.stop()
    }

    @Test func `a batch larger than its room is exported whole, in pieces, though workers and Redis are killed on the way`() async throws {
        let fleet = try await Fleet.start(
            .stopped, redis: { $0.appendOnly = true },
            origin: {
                $0.fileCount = 120
                $0.largestFile = 90_000
                $0.seed = 3
            })
        let work =
            ["work", "--until-empty", "--cache-limit", "1MB", "--concurrency", "4", "--lease", "2s"] + fleet.local + fleet.connection
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "b"])
        var pieces = 0
        // The exporter comes late, and each worker dies while its bodies wait.
        for _ in 0..<2 {
            let worker = try fleet.start(work)
            _ = try #require(try await worker.errors.line { $0.contains("nobody has exported the batch 'b'") }, "\(worker.errors.text)")
            worker.kill()
            _ = try await worker.exitStatus
            try await fleet.redis.kill9()
            try await fleet.redis.restart()
            let piece = try await fleet.outcome(fleet.export)
            #expect(piece.status == 75 && piece.errors.contains("The batch is not complete"), "\(piece.errors)")
            pieces += try fleet.exported().filter { $0.outcome == "fetched" }.count
        }
        #expect(pieces > 0 && pieces < 120)
        let last = try fleet.start(work)
        try await eventually("all of the batch is exported") {
            let piece = try await fleet.outcome(fleet.export)
            #expect(piece.status == 75 || piece.status == 0, "\(piece.errors)")
            return piece.status == 0
        }
        #expect(try await last.exitStatus == .exited(0), "\(last.errors.text)")
        #expect(try fleet.exported().count { $0.outcome != "failed" } == 120)
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `a batch that is released makes room, and so does one whose bodies are a cache`() async throws {
        let lists = try await Lists()
        #expect(try await lists.enqueue(0).status == 0)
        #expect(try await lists.fleet.outcome(lists.work).status == 0)
        let released = try await lists.batch("release", "a")
        #expect(released.status == 0 && released.output == "Released: the bodies of the batch make room for others.\n")
        #expect(try await lists.batch("release", "a").output == "The bodies of the batch were held by nobody.\n")
        let unknown = try await lists.batch("release", "x")
        #expect(unknown.status == 64 && unknown.errors.contains("There is no batch 'x'"), "\(unknown.errors)")
        #expect(try await lists.enqueue(1).status == 0)
        #expect(try await lists.fleet.outcome(lists.work).status == 0)
        let gone = try await lists.export("a")
        #expect(gone.status == 1 && gone.errors.contains("not kept any more"), "\(gone.errors)")
        // A batch whose bodies are a cache holds up nobody, and takes nothing from others.
        let urls = lists.fleet.origin.urls[..<20].map { $0 + "?another" }
        _ = try await lists.fleet.text(["enqueue", "--batch", "c", "--as-cache"] + urls)
        #expect(try await lists.batch("show", "c").output.contains("bodies until they have to make room"))
        #expect(try await lists.fleet.outcome(lists.work).status == 0)
        #expect(try await lists.export("b").status == 0)
        let both = try await lists.fleet.outcome(
            ["enqueue", "--as-cache", "--keep-wire", lists.fleet.origin.urls[0]] + lists.fleet.connection)
        #expect(both.status == 64 && both.errors.contains("'--as-cache' lets them go before it"), "\(both.errors)")
        try await lists.fleet.stop()
    }
}
