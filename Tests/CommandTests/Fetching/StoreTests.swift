import Foundation
import GannetTestKit
import Testing

/// Bodies that workers keep in Redis, and `get`.
@Suite(.timeLimit(.minutes(2))) struct StoreTests {
    private func get(_ fleet: Fleet, _ words: String...) async throws -> Program.Outcome {
        try await fleet.outcome(["get"] + words + fleet.connection)
    }

    @Test func `gannet get reads bodies that workers keep in Redis`() async throws {
        let fleet = try await Fleet.start(files: 30)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list, fleet.origin.url("/nothing")] + fleet.connection)
        let workers = try (0..<2).map { _ in
            try fleet.start(["work", "--until-empty", "--cache-limit", "50MB"] + fleet.local + fleet.connection)
        }
        for worker in workers { #expect(try await worker.exitStatus == .exited(0)) }

        for (number, file) in fleet.origin.files.enumerated() {
            let target = fleet.folder.file("body \(number)")
            let outcome = try await get(fleet, fleet.origin.url(file.path), "-o", target)
            #expect(outcome.status == 0 && outcome.output == "" && outcome.errors == "", "\(outcome.errors)")
            #expect(sha256(of: try contents(ofFile: target)) == file.sha256)
        }
        let meta = try await get(fleet, fleet.origin.urls[3], "--meta")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(meta.output.utf8)) as? [String: Any])
        #expect(json["sha256"] as? String == fleet.origin.files[3].sha256 && json["httpStatus"] as? Int == 200)
        #expect(json["outcome"] as? String == "fetched" && json["file"] is NSNull && json["error"] is NSNull)

        let missing = try await get(fleet, fleet.origin.url("/nothing"))
        #expect(missing.status == 1 && missing.output == "")
        #expect(missing.errors.contains("failed: The server answered 404"))
        let unknown = try await get(fleet, "http://h/")
        #expect(unknown.status == 1 && unknown.errors == "Error: Nothing is known of this URL; '--fetch' fetches it.\n")
        try await fleet.stop()
    }

    @Test func `gannet get --fetch fetches a missing body, and keeps it for the next call`() async throws {
        let fleet = try await Fleet.start(files: 5)
        let words = ["get", fleet.origin.urls[4], "--fetch", "-o", fleet.folder.file("body"), "--max-age", "1h"] + fleet.local
        for _ in 0..<2 {
            let outcome = try await fleet.outcome(words + fleet.connection)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(sha256(of: try contents(ofFile: fleet.folder.file("body"))) == fleet.origin.files[4].sha256)
        }
        // The second time it was there, and its origin was asked at most whether it still holds.
        let statuses = try await fleet.origin.requests().map(\.status)
        #expect(statuses == [200] || statuses == [200, 304], "\(statuses)")
        let refused = try await fleet.outcome(["get", fleet.origin.urls[3], "--fetch"] + fleet.connection)
        #expect(refused.status == 1 && refused.errors.hasPrefix("failed: "), "\(refused.errors)")
        try await fleet.stop()
    }

    @Test func `gannet get reads a body from a worker's folder, unless it has changed since the fetch`() async throws {
        let fleet = try await Fleet.start(files: 4)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        #expect(try await fleet.outcome(fleet.work).status == 0)
        let url = fleet.origin.urls[3]
        let without = try await get(fleet, url)
        #expect(without.status == 1 && without.errors.contains("name that with '--store'"))
        let none = try await get(fleet, url, "--store", fleet.folder.file("none"))
        #expect(none.status == 65 && none.errors.contains("none cannot be read: No such file or directory."), "\(none.errors)")
        let target = fleet.folder.file("body")
        #expect(try await get(fleet, url, "--store", fleet.out, "-o", target).status == 0)
        #expect(sha256(of: try contents(ofFile: target)) == fleet.origin.files[3].sha256)

        for file in try fleet.bodies() {
            let size = try contents(ofFile: fleet.out + "/" + file).count
            try Data(repeating: 7, count: size).write(to: URL(fileURLWithPath: fleet.out + "/" + file))
        }
        #expect(try await get(fleet, url, "--store", fleet.out).status == 1)
        try await fleet.stop()
    }

    @Test func `gannet get reads a body from the folder of a run, also when Redis knows nothing of it, or says why not`() async throws {
        let fleet = try await Fleet.start(files: 4)
        let missing = fleet.origin.url("/nothing")
        #expect(try await fleet.outcome(fleet.run + [missing]).status == 1)
        let other = try await fleet.withAnotherRedis()
        let (url, target) = (fleet.origin.urls[3], fleet.folder.file("body"))
        for place in [fleet, other] {
            let found = try await get(place, url, "--store", fleet.out, "-o", target)
            #expect(found.status == 0, "\(found.errors)")
            #expect(sha256(of: try contents(ofFile: target)) == fleet.origin.files[3].sha256)
        }
        let failed = try await get(other, missing, "--store", fleet.out)
        #expect(failed.status == 1)
        #expect(
            failed.errors.hasPrefix("Error: The folder \(fleet.out) has no body of the URL: The server answered 404 ("), "\(failed.errors)")

        let shards = fleet.folder.file("shards")
        let words = ["run", "-i", fleet.list, "-d", shards, "--output-format", "shards"] + fleet.local + fleet.connection
        let packed = try await fleet.outcome(words)
        #expect(packed.status == 0, "\(packed.errors)")
        let told = try await get(other, url, "--store", shards)
        #expect(told.status == 1 && told.errors.contains("The body is in a shard: 'tar -xOf \(shards)/"), "\(told.errors)")
        try await other.store.stop()
        try await fleet.stop()
    }

    @Test func `a file that cannot be written is exit 74, and the old file stays`() async throws {
        let fleet = try await Fleet.start(files: 4)
        let words = ["get", fleet.origin.urls[3], "--fetch"] + fleet.local + fleet.connection
        for target in ["/dev/full", fleet.folder.file("none/body"), fleet.folder.path] {
            let outcome = try await fleet.outcome(words + ["-o", target])
            #expect(outcome.status == 74)
            #expect(outcome.errors.hasPrefix("Error: The file ") && outcome.errors.count { $0 == "\n" } == 1, "\(outcome.errors)")
        }
        #expect(try fleet.folder.files.allSatisfy { !$0.contains("gannet-") })
        let full = try await fleet.outcome(words, output: .file("/dev/full"))
        #expect(full.status == 74)
        try await fleet.stop()
    }
}
