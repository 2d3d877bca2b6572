import Foundation
import GannetTestKit
import Testing

/// The folder that `export` makes of a batch.
@Suite(.timeLimit(.minutes(3))) struct ExportTests {
    @Test func `a whole batch is there by digest, each URL once, and a second export writes nothing`() async throws {
        let fleet = try await Fleet.start {
            $0.fileCount = 40
            $0.largestFile = 3_000_000
        }
        let missing = fleet.origin.url("/nothing")
        try await fleet.fetchBatch(more: [fleet.origin.urls[3], missing, fleet.origin.urls[3]])
        let requests = try await fleet.origin.requests().count

        let first = try await fleet.outcome(fleet.export)
        #expect(first.status == 1)
        #expect(first.output.hasPrefix("40 bodies written, 1 failed; ") && first.output.hasSuffix(" to \(fleet.out)\n"), "\(first.output)")
        #expect(first.errors == "failed: The server answered 404 (\(missing)).\n")
        try fleet.expectAllBodies()
        let lines = try fleet.exported()
        #expect(Set(lines.compactMap(\.url)) == Set(fleet.origin.urls + [missing]) && lines.count == 41)
        #expect(Set(lines.map(\.outcome)) == ["fetched", "failed"] && lines.allSatisfy { 1...43 ~= $0.finished })
        let failed = try #require(lines.first { $0.outcome == "failed" })
        #expect(failed.url == missing && failed.error?.class == "http-404" && failed.httpStatus == 404)

        let files = try fleet.inodes()
        let second = try await fleet.outcome(fleet.export + ["--json"])
        #expect(second.status == 1)
        #expect(try fleet.inodes() == files)
        let printed = second.output.split(separator: "\n").map(String.init)
        let again = try fleet.exported()
        #expect(again.map(\.finished) == lines.map(\.finished) && Set(again.map(\.outcome)) == ["cached", "failed"])
        #expect(try printed.dropLast().joined(separator: "\n") + "\n" == String(contentsOfFile: fleet.manifestPath, encoding: .utf8))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(printed.last?.utf8 ?? "".utf8)) as? [String: Any])
        let summary = try #require(json["summary"] as? [String: Any])
        let names: Set = [
            "rows", "done", "fetched", "revalidated", "cached", "failed", "invalid", "bytes", "durationMilliseconds", "batch", "queue",
            "state", "evicted", "elsewhere", "forgotten", "repeated", "cancelled", "left", "disallowed",
        ]
        #expect(Set(summary.keys) == names)
        #expect(summary["rows"] as? Int == 41 && summary["cached"] as? Int == 40 && summary["failed"] as? Int == 1)
        #expect(summary["repeated"] as? Int == 2 && summary["left"] as? Int == 0 && summary["state"] as? String == "complete")

        // Only a changed file is written again.
        let changed = try #require(again.first { ($0.bytes ?? 0) > 0 }?.file)
        try Data([1]).write(to: URL(fileURLWithPath: fleet.out + "/" + changed))
        let third = try await fleet.outcome(fleet.export)
        #expect(third.output.hasPrefix("1 body written, 39 there already, 1 failed; "), "\(third.output)")
        try fleet.expectAllBodies()
        #expect(try await fleet.origin.requests().count == requests)
        try await fleet.stop()
    }

    @Test func `a job that is tried again has not ended, and counts once when it has ended again`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let missing = fleet.origin.url("/nothing")
        try await fleet.fetchBatch(more: [missing])
        func summary(status: Int32) async throws -> [String: Int] {
            let outcome = try await fleet.outcome(fleet.export + ["--json"])
            #expect(outcome.status == status, "\(outcome.errors)")
            let last = outcome.output.split(separator: "\n").last ?? ""
            let json = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
            return try #require(json["summary"] as? [String: Any]).compactMapValues { $0 as? Int }
        }
        // Each round ends in the same failure.
        for round in 1...2 {
            _ = try await fleet.text(["jobs", "retry", "--class", "http-404"])
            let open = try await summary(status: 75)
            #expect(open["rows"] == 1 && open["left"] == 1 && open["failed"] == 0, "round \(round): \(open)")
            #expect(open["forgotten"] == 0 && open["repeated"] == 0, "round \(round): \(open)")
            #expect(try fleet.exported().map(\.url) == fleet.origin.urls)

            #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection).status == 0)
            let ended = try await summary(status: 1)
            #expect(ended["rows"] == 2 && ended["left"] == 0 && ended["failed"] == 1, "round \(round): \(ended)")
            #expect(ended["forgotten"] == 0 && ended["repeated"] == 0, "round \(round): \(ended)")
            #expect(try fleet.exported().last?.error?.class == "http-404")
        }
        // The last job of the URL is deleted, so none of its ends counts.
        _ = try await fleet.text(["jobs", "retry"])
        _ = try await fleet.text(["jobs", "delete", "--state", "ready", "--yes"])
        let deleted = try await summary(status: 1)
        #expect(deleted["rows"] == 1 && deleted["cancelled"] == 1 && deleted["failed"] == 0, "\(deleted)")
        try await fleet.stop()
    }

    @Test func `bodies that are no longer kept are named, and fetched again on request`() async throws {
        let fleet = try await Fleet.start(files: 30)
        try await fleet.fetchBatch()
        #expect(try await fleet.forgetBodies(most: 25) == 25)
        let first = try await fleet.outcome(fleet.export)
        #expect(first.status == 1)
        #expect(first.output.hasPrefix("5 bodies written, 25 failed; "), "\(first.output)")
        #expect(first.errors.split(separator: "\n").count { $0.hasPrefix("failed: The body is not kept any more: http://") } == 20)
        #expect(first.errors.contains("… and 5 further failures;"))
        #expect(first.errors.hasSuffix("Error: 25 bodies of the batch are not kept any more; '--refetch' fetches them again.\n"))
        #expect(try fleet.exported().count { $0.error?.class == "evicted" } == 25)

        let before = try await fleet.requests()
        let second = try await fleet.outcome(fleet.export + ["--refetch"] + fleet.local)
        #expect(second.status == 0 && second.errors == "", "\(second.errors)")
        #expect(second.output.hasPrefix("25 bodies written, 5 there already, 0 failed; "), "\(second.output)")
        try fleet.expectAllBodies()
        #expect(try Set(fleet.exported().map(\.outcome)) == ["fetched", "cached"])
        let after = try await fleet.requests()
        #expect(after.values.reduce(0, +) == before.values.reduce(0, +) + 25 && after.values.allSatisfy { $0 <= 2 })
        // For the next who asks they are kept again.
        try FileManager.default.removeItem(atPath: fleet.out)
        #expect(try await fleet.outcome(fleet.export).status == 0)
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `a URL that cannot be fetched again is exported as failed, with the error class of that fetch`() async throws {
        let fleet = try await Fleet.start(files: 3)
        try await fleet.fetchBatch()
        #expect(try await fleet.forgetBodies() > 0)
        // Private addresses are refused where nothing permits them.
        let outcome = try await fleet.outcome(fleet.export + ["--refetch"])
        #expect(outcome.status == 1)
        let lines = try fleet.exported().filter { $0.outcome == "failed" }
        #expect(lines.allSatisfy { $0.error?.class == "refused" } && !lines.isEmpty, "\(lines)")
        // Nor does it change what the URLs are: fetched once, with bodies that are not kept. The failure stands for a minute for all who ask.
        #expect(try await fleet.forget("{gannet}outcome:") == 3)
        let permitted = try await fleet.outcome(fleet.export + ["--refetch"] + fleet.local)
        #expect(permitted.status == 0, "\(permitted.errors)")
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `an export finds its files again when Redis has forgotten the outcomes`() async throws {
        let fleet = try await Fleet.start(files: 6)
        try await fleet.fetchBatch()
        #expect(try await fleet.outcome(fleet.export).status == 0)
        let lines = try fleet.exported()
        #expect(try await fleet.forget("{gannet}outcome:") == 6)
        let again = try await fleet.outcome(fleet.export)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try fleet.exported().map(\.url) == lines.map(\.url))

        let file = try #require(lines[2].file)
        try FileManager.default.removeItem(atPath: fleet.out + "/" + file)
        let without = try await fleet.outcome(fleet.export)
        #expect(without.status == 1 && without.output.hasPrefix("0 bodies written, 5 there already, 1 failed; "), "\(without.output)")
        #expect(try fleet.exported()[2].error?.class == "evicted" && fleet.exported()[2].url == lines[2].url)
        let refetched = try await fleet.outcome(fleet.export + ["--refetch"] + fleet.local)
        #expect(refetched.status == 0 && refetched.output.hasPrefix("1 body written, 5 there already, 0 failed; "), "\(refetched)")

        #expect(try await fleet.forget("{gannet}outcome:") == 1)

        try FileManager.default.removeItem(atPath: fleet.out)
        let elsewhere = try await fleet.outcome(fleet.export)
        #expect(elsewhere.status == 1 && elsewhere.output.hasPrefix("0 bodies written, 6 failed; "))
        #expect(elsewhere.errors.contains("Error: Of 6 URLs nothing is kept any more"), "\(elsewhere.errors)")
        #expect(try fleet.exported().allSatisfy { $0.url == nil && $0.error?.class == "forgotten" })
        try await fleet.stop()
    }

    @Test func `an export copies bodies from the workers' folder, unless they have changed since the fetch`() async throws {
        let fleet = try await Fleet.start(files: 12)
        let store = fleet.folder.file("store")
        try await fleet.fetchBatch(work: ["--store", store])
        let without = try await fleet.outcome(fleet.export)
        #expect(without.status == 1)
        // One has no bytes, and needs no place to be in.
        #expect(
            without.errors.hasSuffix("Error: 11 bodies of the batch are in a worker's folder: name that with '--store'.\n"),
            "\(without.errors)")
        #expect(try fleet.exported().count { $0.error?.class == "elsewhere" } == 11)
        try FileManager.default.removeItem(atPath: fleet.out)
        let missing = try await fleet.outcome(fleet.export + ["--store", fleet.folder.file("none")])
        #expect(missing.status == 65 && missing.errors.hasPrefix("Error: The folder ") && missing.errors.count { $0 == "\n" } == 1)

        let outcome = try await fleet.outcome(fleet.export + ["--store", store, "--name", "path"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        try fleet.expectAllBodies()
        #expect(try fleet.bodies().allSatisfy { $0.hasPrefix("127.0.0.1_") })

        try FileManager.default.removeItem(atPath: fleet.out)
        let files = try FileManager.default.subpathsOfDirectory(atPath: store).filter { $0.contains("-") && !$0.hasPrefix(".gannet") }
        let changed = try #require(try files.first { try !contents(ofFile: store + "/" + $0).isEmpty })
        var bytes = try contents(ofFile: store + "/" + changed)
        bytes[0] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: store + "/" + changed))
        let damaged = try await fleet.outcome(fleet.export + ["--store", store])
        #expect(damaged.status == 1 && damaged.output.hasPrefix("11 bodies written, 1 failed; "), "\(damaged.output)")
        #expect(try fleet.exported().count { $0.error?.class == "evicted" } == 1)
        #expect(try fleet.bodies().count == 11)
        try await fleet.stop()
    }

    @Test func `bodies in two folders and in Redis are exported together, and a folder that was not named is asked for`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let stores = ["one", "two"].map(fleet.folder.file)
        let late = ["/late.bin", "/latest.bin"].map { fleet.origin.url($0) }
        // Each round of retries has a worker with another store.
        try await fleet.fetchBatch(more: late, work: ["--store", stores[0]])
        for (path, store) in [("/late.bin", stores[1]), ("/latest.bin", "redis")] {
            try fleet.origin.replace(path, by: Array(path.utf8))
            _ = try await fleet.text(["jobs", "retry", "--class", "http-404"])
            let worked = try await fleet.outcome(["work", "--until-empty", "--store", store] + fleet.local + fleet.connection)
            #expect(worked.status == 0, "\(worked.errors)")
        }
        let part = try await fleet.outcome(fleet.export + ["--store", stores[0]])
        #expect(part.status == 1 && part.output.hasPrefix("4 bodies written, 1 failed; "), "\(part.output)")
        #expect(
            part.errors.hasSuffix(
                "Error: 1 body of the batch is in another worker's folder than '\(stores[0])', or was removed there: add '--store FOLDER', or "
                    + "fetch it again with '--refetch'.\n"), "\(part.errors)")
        #expect(
            part.errors.contains("failed: A worker has put the body into a folder, and no '--store' has it: \(late[0])\n"), "\(part.errors)"
        )
        #expect(try fleet.exported().filter { $0.error != nil }.map(\.error?.class) == ["elsewhere"])

        let words = ["--store", "redis", "--store", stores[0], "--store", stores[1]]
        let ways: [(words: [String], environment: [String: String?])] = [
            (words, [:]), ([], ["GANNET_STORE": stores.joined(separator: "\n")]),
        ]
        for (words, environment) in ways {
            try FileManager.default.removeItem(atPath: fleet.out)
            let whole = try await fleet.outcome(fleet.export + words, with: environment)
            #expect(whole.status == 0 && whole.output.hasPrefix("5 bodies written, 0 failed; "), "\(whole.output) \(whole.errors)")
        }
        let get = ["get", late[0], "-o", fleet.folder.file("body")] + fleet.connection
        let other = try await fleet.outcome(get + ["--store", stores[0]])
        #expect(other.status == 1 && other.errors.contains("name that with '--store'"), "\(other.errors)")
        #expect(try await fleet.outcome(get + words).status == 0)
        #expect(try contents(ofFile: fleet.folder.file("body")) == Array("/late.bin".utf8))
        // A worker has one store.
        #expect(try await fleet.outcome(["work"] + words + fleet.connection).status == 64)
        try await fleet.stop()
    }

    @Test func `an export of an unknown batch is an error, and no folder is made for it`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let outcome = try await fleet.outcome(fleet.export)
        #expect(outcome.status == 64)
        #expect(outcome.errors == "Error: There is no batch 'b' in the queue 'default'; 'gannet batch list' shows those there are.\n")
        #expect(!FileManager.default.fileExists(atPath: fleet.out))
        try await fleet.stop()
    }
}
