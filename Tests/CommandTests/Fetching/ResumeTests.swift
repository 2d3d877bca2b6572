import Foundation
import GannetTestKit
import Testing

/// Runs into a folder of earlier runs.
@Suite(.timeLimit(.minutes(3))) struct ResumeTests {
    @Test func `on request, a run fetches all its files again, or only old ones`() async throws {
        let fleet = try await Fleet.start(files: 10)
        #expect(try await fleet.outcome(fleet.run).status == 0)
        // As if six of them had been fetched two hours ago.
        let journal = try String(contentsOfFile: fleet.out + "/.gannet/journal", encoding: .utf8).split(separator: "\n")
        let aged = journal.enumerated().map { index, line in
            var fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            if 1...6 ~= index, let time = Int(fields[13]) { fields[13] = String(time - 7_200_000) }
            return fields.joined(separator: "\t") + "\n"
        }
        try fleet.folder.write(Array(aged.joined().utf8), to: "out/.gannet/journal")
        let young = try await fleet.outcome(fleet.run + ["--max-age", "3h"])
        #expect(young.output.hasPrefix("0 URLs fetched, 10 there already, 0 failed"), "\(young.output)")
        let old = try await fleet.outcome(fleet.run + ["--max-age", "1h"])
        #expect(old.output.hasPrefix("0 URLs fetched, 6 unchanged, 4 there already, 0 failed"), "\(old.output)")
        #expect(old.errors.contains("gannet: 6 files there are older than '--max-age'.\n"))
        let all = try await fleet.outcome(fleet.run + ["--refresh", "--batch", "again"])
        #expect(all.output.hasPrefix("0 URLs fetched, 10 unchanged, 0 failed"), "\(all.output)")
        #expect(try await fleet.requests().values.reduce(0, +) == 26)
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    private struct Line: Decodable {
        let line: Int
        let url: String
        let outcome: String
        let sha256: String?
        let file: String?
    }

    private func manifest(_ fleet: Fleet) throws -> [Line] { try fleet.manifest() }

    /// Each row of the list once, in its order, with the file that holds its body.
    private func expectManifest(_ fleet: Fleet, _ outcomes: Set<String>, _ location: SourceLocation = #_sourceLocation) throws {
        let lines = try manifest(fleet)
        let urls = try String(contentsOfFile: fleet.list, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.map(\.url) == urls, sourceLocation: location)
        #expect(lines.map(\.line) == Array(1...urls.count), sourceLocation: location)
        #expect(Set(lines.map(\.outcome)) == outcomes, sourceLocation: location)
        for line in lines {
            let bytes = try contents(ofFile: fleet.out + "/" + #require(line.file, sourceLocation: location))
            #expect(line.sha256 == sha256(of: bytes), "\(line.url)", sourceLocation: location)
        }
    }

    @Test func `a run requests none of a thousand files that exist, and only the two that are missing or changed`() async throws {
        let fleet = try await Fleet.start(files: 1000)
        let first = try await fleet.outcome(fleet.run)
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.hasPrefix("1000 URLs fetched, 0 failed; "))
        try fleet.expectAllBodies()
        try expectManifest(fleet, ["fetched"])
        let second = try await fleet.outcome(fleet.run)
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.complaints == "gannet: 1000 of 1000 URLs are there already; 0 to fetch.\n")
        #expect(second.output.hasPrefix("0 URLs fetched, 1000 there already, 0 failed; 0 B in "))
        try expectManifest(fleet, ["cached"])
        let once = Dictionary(uniqueKeysWithValues: fleet.origin.files.map { ($0.path, 1) })
        #expect(try await fleet.requests() == once)

        // A Redis that has forgotten everything changes nothing.
        try await fleet.loseKeys()
        let lines = try manifest(fleet)
        let (missing, changed) = (lines[10], lines[500])
        try FileManager.default.removeItem(atPath: fleet.out + "/" + #require(missing.file))
        let path = try fleet.out + "/" + #require(changed.file)
        var bytes = try contents(ofFile: path)
        bytes[0] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let third = try await fleet.outcome(fleet.run)
        #expect(third.status == 0)
        #expect(
            third.complaints == "gannet: 2 files of an earlier run are missing or changed.\n"
                + "gannet: 998 of 1000 URLs are there already; 2 to fetch.\n")
        #expect(third.output.hasPrefix("2 URLs fetched, 998 there already, 0 failed; "))
        try fleet.expectAllBodies()
        try expectManifest(fleet, ["cached", "fetched"])
        let twice = [missing, changed].map { "/" + ($0.url.split(separator: "/").last ?? "") }
        #expect(try await fleet.requests() == once.merging(twice.map { ($0, 2) }) { $1 })
        #expect(try manifest(fleet).filter { $0.outcome == "fetched" }.map(\.url) == [missing.url, changed.url])
        try await fleet.stop()
    }

    @Test(arguments: [[], ["--name", "path"]])
    func `the run after a killed run counts files of bodies that no URL has, and removes none`(words: [String]) async throws {
        let fleet = try await Fleet.start(files: 12)
        let gate = try fleet.gateList(after: 10)
        let run = fleet.run + words
        let first = try fleet.start(run + ["--concurrency", "2"])
        try await gate.accepted(2)
        first.kill()
        _ = try await first.exitStatus
        let folder = words.isEmpty ? "abc" : "h.example/abc"
        let stray = "\(folder)/abc\(String(repeating: "0", count: 29))-x.jpg"
        try FileManager.default.createDirectory(atPath: fleet.out + "/" + folder, withIntermediateDirectories: true)
        // A user's own file, and one of an earlier list, are no strays.
        for file in [stray, "\(folder)/notes.txt"] { try fleet.folder.write([1], to: "out/" + file) }
        try fleet.folder.write(Array(fleet.origin.urls[1...].joined(separator: "\n").utf8), to: "urls.txt")
        let second = try await fleet.outcome(run)
        #expect(second.status == 0)
        let note =
            "gannet: 1 file in \(fleet.out) is named like a body, and belongs to no URL of this list or of an earlier one, such as \(stray). "
            + "A killed run may have left it, and nothing removes it.\n"
        #expect(second.errors.contains(note), "\(second.errors)")
        let third = try await fleet.outcome(run)
        #expect(third.status == 0 && !third.errors.contains("named like"), "\(third.errors)")
        #expect(try fleet.bodies().contains(stray))
        try await gate.stop()
        try await fleet.stop()
    }

    @Test(arguments: [false, true])
    func `the run after a killed run fetches only missing files, with the old Redis or a new one`(redisDies: Bool) async throws {
        let fleet = try await Fleet.start(redisDies ? .stopped : nil, files: 400)
        let first = try await fleet.start(fleet.run + ["--concurrency", "8"], untilFetched: 200)
        first.kill()
        _ = try await first.exitStatus
        let there = try fleet.bodies().count { !$0.hasPrefix(".gannet-") }
        #expect(there >= 200 && there < 400)
        #expect(!FileManager.default.fileExists(atPath: fleet.out + "/manifest.jsonl"))
        let second: Fleet
        if redisDies {
            try await fleet.redis.kill9()
            second = try await fleet.withAnotherRedis()
        } else {
            second = fleet
        }
        let before = try await fleet.requests()
        let outcome = try await second.outcome(second.run)
        #expect(outcome.status == 0, "\(outcome.errors)")
        try second.expectAllBodies()
        try expectManifest(second, ["fetched", "cached"])
        // Only requests without an answer are made again.
        let after = try await fleet.requests()
        #expect(Set(after.keys) == Set(fleet.origin.files.map(\.path)))
        #expect(after.values.allSatisfy { $0 <= 2 })
        #expect(after.values.count { $0 == 2 } <= 8, "\(there) files, \(before.count) requests before")
        let lines = try manifest(second)
        #expect(lines.count { $0.outcome == "cached" } <= there && lines.count { $0.outcome == "cached" } >= there - 8)
        try await second.stop()
    }

    @Test func `a run that could not write its manifest leaves nothing in Redis, and the next run writes it`() async throws {
        let fleet = try await Fleet.start(files: 10)
        let path = fleet.out + "/manifest.jsonl"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // The second of these runs has nothing to fetch.
        for _ in 1...2 {
            let refused = try await fleet.outcome(fleet.run)
            #expect(refused.status == 74 && refused.errors.contains("manifest.jsonl cannot be written"), "\(refused.errors)")
            #expect(try await fleet.queueKeys() == .list([]))
        }
        try FileManager.default.removeItem(atPath: path)
        let outcome = try await fleet.outcome(fleet.run)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("0 URLs fetched, 10 there already, 0 failed; "), "\(outcome.output)")
        try expectManifest(fleet, ["cached"])
        try await fleet.stop()
    }

    @Test func `a run begins anew, although the batch of a killed run has no jobs and says that all its input was read`() async throws {
        let fleet = try await Fleet.start(.keys, files: 10)
        let first = try await fleet.outcome(fleet.run)
        let name = try #require(first.errors.firstMatch(of: /the queue of this run is '(run-[^']*)'/)?.1)
        // As a version left it whose run had nothing to fetch and was killed before it wrote its manifest: such runs began a batch too.
        let queue = "{gannet}q:\(name):"
        let record = queue + "batch:1"
        let now = 1_700_000_000_000
        let words = [
            "HSET", record, "id", "run", "source", "", "state", "closed", "priority", "2", "refresh", "0", "maxAge", "-1", "offset", "10",
        ]
        _ = try await fleet.redis.command(words + ["total", "0", "began", "\(now)", "touched", "\(now)"])
        _ = try await fleet.redis.command(["ZADD", queue + "batches", "1", "run"])
        _ = try await fleet.redis.command(["HSET", queue + "queue", "priorities", "2"])
        let outcome = try await fleet.outcome(fleet.run)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("0 URLs fetched, 10 there already, 0 failed; "), "\(outcome.output)")
        try expectManifest(fleet, ["cached"])
        try await fleet.stop()
    }

    @Test func `a damaged record is told, and the unfinished record of a killed run is not`() async throws {
        let fleet = try await Fleet.start(files: 3)
        #expect(try await fleet.outcome(fleet.run).status == 0)
        let path = fleet.out + "/.gannet/journal"
        let whole = try contents(ofFile: path)
        try Data("garbage".utf8).write(to: URL(fileURLWithPath: path))
        let told = try await fleet.outcome(fleet.run)
        #expect(
            told.complaints
                == "gannet: the record of earlier commands, \(path), cannot be read and begins anew: every URL is fetched again.\n")
        #expect(told.status == 0 && told.output.hasPrefix("3 URLs fetched, 0 failed; "), "\(told.output)")
        for (length, there) in [(5, ""), (whole.count - 1, "2 of 3 URLs are there already; 1 to fetch.")] {
            try Data(whole.prefix(length)).write(to: URL(fileURLWithPath: path))
            let outcome = try await fleet.outcome(fleet.run)
            #expect(outcome.status == 0)
            #expect(outcome.complaints == (there.isEmpty ? "" : "gannet: \(there)\n"))
        }
        try await fleet.stop()
    }

    @Test func `the URL of a damaged line of the record is fetched again`() async throws {
        let fleet = try await Fleet.start(files: 12)
        #expect(try await fleet.outcome(fleet.run).status == 0)
        let path = fleet.out + "/.gannet/journal"
        var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        // The status, the size, the digest, the milliseconds, and the file of a record each.
        let damage = [2: "xx", 3: "-4", 4: "abc", 5: "99999999999999999999", 6: "../victim"]
        for (field, text) in damage {
            var fields = lines[field].components(separatedBy: "\t")
            fields[field] = text
            lines[field] = fields.joined(separator: "\t")
        }
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let second = try await fleet.outcome(fleet.run)
        #expect(
            second.status == 0 && second.output.hasPrefix("5 URLs fetched, 7 there already, 0 failed"), "\(second.output)\(second.errors)")
        let third = try await fleet.outcome(fleet.run)
        #expect(third.output.hasPrefix("0 URLs fetched, 12 there already, 0 failed"), "\(third.output)")
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `a body whose place is blocked fails its row alone, and is fetched once the place is free`() async throws {
        let fleet = try await Fleet.start(files: 20)
        #expect(try await fleet.outcome(fleet.run).status == 0)
        let files = try fleet.bodies().sorted()
        let elsewhere = fleet.folder.file("elsewhere")
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        // A link in place of one body's folder, and a folder in place of another body.
        let (linked, taken) = (fleet.out + "/" + files[0].prefix(3), fleet.out + "/" + files[19])
        let neighbours = files.count { $0.hasPrefix(files[0].prefix(3)) }
        try FileManager.default.removeItem(atPath: linked)
        try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: elsewhere)
        try FileManager.default.removeItem(atPath: taken)
        try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: false)
        let second = try await fleet.outcome(fleet.run)
        #expect(second.status == 1 && second.output.contains("\(neighbours + 1) failed (storage \(neighbours + 1))"), "\(second.output)")
        #expect(second.errors.contains("links within a folder of bodies are not followed. Remove it"), "\(second.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
        for path in [linked, taken] { try FileManager.default.removeItem(atPath: path) }
        let third = try await fleet.outcome(fleet.run)
        #expect(third.status == 0 && third.output.hasPrefix("\(neighbours + 1) URL"), "\(third.output)")
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `a failed URL is tried again by the next run`() async throws {
        let fleet = try await Fleet.start(files: 2)
        let origin = try HostileServer(
            scripts: ["404 No", "200 OK"].map { answer in
                [.readUntil("\r\n\r\n"), .send("HTTP/1.1 \(answer)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close]
            })
        let words = ["run", "http://127.0.0.1:\(origin.port)/x.gate", "-d", fleet.out] + fleet.local + fleet.connection
        let first = try await fleet.outcome(words)
        #expect(first.status == 1 && first.output.hasPrefix("0 URLs fetched, 1 failed (http-404 1); 1 row, "))
        let second = try await fleet.outcome(words)
        #expect(second.status == 0 && second.output.hasPrefix("1 URL fetched, 0 failed; "), "\(second)")
        try await origin.stop()
        try await fleet.stop()
    }

    @Test func `standard input is known to its end, also when it can be read only once`() async throws {
        let fleet = try await Fleet.start(files: 20)
        let words = ["run", "-i", "-", "-d", fleet.out] + fleet.local + fleet.connection
        for outcomes in [["fetched"], ["cached"]] as [Set<String>] {
            let outcome = try await fleet.outcome(script: "cat '\(fleet.list)' | \"$0\" \"$@\"", words)
            #expect(outcome.status == 0, "\(outcome.errors)")
            try expectManifest(fleet, outcomes)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fleet.out + "/.gannet").sorted() == ["journal", "names"])
        #expect(try await fleet.requests().values.allSatisfy { $0 == 1 })
        try await fleet.stop()
    }

    @Test func `JSON output has a line for each row and the totals at the end, and some failures may be permitted`() async throws {
        let fleet = try await Fleet.start(files: 9)
        let words = fleet.run + [fleet.origin.url("/nothing")]
        let outcome = try await fleet.outcome(words + ["--json", "--max-failures", "10%"])
        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        let manifest = try String(contentsOfFile: fleet.out + "/manifest.jsonl", encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 11 && Array(lines.dropLast()) == manifest)
        let bytes = fleet.origin.files.reduce(0) { $0 + $1.size }
        let ends = #""failed":1,"disallowed":0,"invalid":0,"bytes":\#(bytes),"#
        #expect(lines.last?.hasPrefix(#"{"summary":{"rows":10,"done":9,"fetched":9,"revalidated":0,"cached":0,"# + ends) == true)
        for (limit, status) in [("9%", 1), ("1", 0), ("0", 1)] as [(String, Int32)] {
            #expect(try await fleet.outcome(words + ["--max-failures", limit]).status == status)
        }
        try await fleet.stop()
    }

    @Test(arguments: ["host", "path"]) func `--name chooses the form of file names`(name: String) async throws {
        let fleet = try await Fleet.start(files: 5)
        #expect(try await fleet.outcome(fleet.run + ["--name", name]).status == 0)
        try fleet.expectAllBodies()
        let host = try #require(URL(string: fleet.origin.urls[0])?.port).description
        #expect(try fleet.bodies().allSatisfy { $0.hasPrefix("127.0.0.1_\(host)/") })
        try await fleet.stop()
    }

    @Test func `a run that names files in another way than the last one says so before it begins`() async throws {
        let fleet = try await Fleet.start(files: 4)
        try fleet.folder.write(Array(fleet.origin.urls[0].utf8), to: "urls.txt")
        let warning = { (earlier: String, new: String) in
            "gannet: the folder \(fleet.out) will hold both sorts of names: its earlier files keep those of '--name \(earlier)', and new files get "
                + "those of '--name \(new)'.\n"
        }
        #expect(try await !fleet.outcome(fleet.run).errors.contains("both sorts"))
        #expect(try await !fleet.outcome(fleet.run).errors.contains("both sorts"))
        try fleet.folder.write(Array(fleet.origin.urls.joined(separator: "\n").utf8), to: "urls.txt")
        let other = try await fleet.outcome(fleet.run + ["--name", "host", "--quiet"])
        #expect(other.status == 0 && other.errors == warning("hash", "host"), "\(other.errors)")
        #expect(try fleet.bodies().count { $0.hasPrefix("127.0.0.1_") } == 3)
        try fleet.expectAllBodies()
        #expect(try await fleet.outcome(fleet.run + ["--name", "host", "--quiet"]).errors == "")
        #expect(try await fleet.outcome(fleet.run + ["--quiet"]).errors == warning("host", "hash"))
        try await fleet.stop()
    }
}
