import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct EnqueueCommandTests {
    @Test func `enqueue reports the accepted URLs and the batch's name, as text and as JSON`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let list = try fleet.list("list", 0..<5)
        let text = try await fleet.text(["enqueue", "-i", list, "--batch", "monday"])
        #expect(text == "Accepted 5 URLs; 0 invalid. Batch: monday\n")
        let json = try await fleet.json(["enqueue", "http://h/1", "no url", "--priority", "high"], status: 1)
        #expect(json["accepted"] as? Int == 1 && json["invalid"] as? Int == 1 && json["resumed"] as? Bool == false)
        let complaints = try #require(json["complaints"] as? [[String: String]])
        #expect(complaints.map { $0["place"] } == ["argument 2"])
        let batch = try await fleet.json(["batch", "show", try #require(json["batch"] as? String)])
        #expect(batch["priority"] as? String == "high" && batch["total"] as? Int == 1)
        try await fleet.stop()
    }

    @Test func `rows of a slow input go out while its producer pauses`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let path = fleet.folder.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let input = FileHandle(fileDescriptor: open(path, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        let child = try fleet.start(["enqueue", "--batch", "b", "-i", "-"] + fleet.connection, input: path)
        for count in 1...3 {
            try input.write(contentsOf: Data("http://h/\(count)\n".utf8))
            try await eventually("row \(count) is accepted") {
                try await fleet.answers(of: "{gannet}q:default:batch:1", "HGET", "offset").contains(.text("\(count)"))
            }
        }
        // Rows that come together are sent together.
        let watch = try await fleet.watch()
        try input.write(contentsOf: Data("http://h/4\nhttp://h/5\n".utf8))
        try await watch.saw("\"HSET\"", "batch:1", "\"offset\" \"5\"")
        try input.close()
        #expect(try await child.exitStatus == .exited(0))
        try await child.output.finished()
        #expect(child.output.text == "Accepted 5 URLs; 0 invalid. Batch: b\n")
        try await fleet.stop()
    }

    @Test func `an enqueue of a named batch that was killed goes on where it stopped`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let (child, input) = try await fleet.startFeeding(["enqueue", "--batch", "b", "-i", "-"])
        child.kill()
        _ = try await child.exitStatus
        try input.close()
        let first = try await fleet.json(["batch", "show", "b"])
        #expect(first["state"] as? String == "open")
        let accepted = try #require(first["total"] as? Int)
        #expect(accepted == Fleet.chunk)

        try fleet.folder.write(Array((0..<Fleet.chunk + 500).map { "http://h/\($0)" }.joined(separator: "\n").utf8), to: "all")
        let words = ["enqueue", "--batch", "b", "-i", "-"] + fleet.connection
        let again = try await fleet.outcome(words, input: fleet.folder.file("all"))
        #expect(again.status == 0)
        #expect(again.errors == "gannet: going on with the batch 'b': \(Fleet.chunk) URLs had been accepted before.\n")
        #expect(again.output == "Accepted \(Fleet.chunk + 500) URLs; 0 invalid. Batch: b\n")
        // And a third time nothing is added.
        _ = try await fleet.outcome(words, input: fleet.folder.file("all"))
        let status = try await fleet.json(["status"])
        #expect((status["totals"] as? [String: Any])?["enqueued"] as? Int == Fleet.chunk + 500)
        try await fleet.stop()
    }

    @Test func `input without any URL makes no batch`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let none = try await fleet.outcome(["enqueue", "no url", "ftp://h/"] + fleet.connection)
        #expect(none.status == 65 && none.output == "Accepted 0 URLs; 2 invalid.\n", "\(none)")
        #expect(try await fleet.json(["enqueue", "no url"], status: 65)["batch"] is NSNull)
        let empty = try fleet.list("empty", 0..<0)
        #expect(try await fleet.outcome(["enqueue", "-i", empty, "--batch", "b"] + fleet.connection).status == 65)
        #expect(try await fleet.text(["batch", "list"]) == "")
        // The rows in front of the first URL count.
        let list = fleet.folder.file("mixed")
        try fleet.folder.write(Array("ftp://h/\nno url\nhttp://h/1\n".utf8), to: "mixed")
        let mixed = try await fleet.json(["enqueue", "no url", "-i", list, "--batch", "b"], status: 1)
        #expect(mixed["accepted"] as? Int == 1 && mixed["invalid"] as? Int == 3, "\(mixed)")
        let places = (mixed["complaints"] as? [[String: String]])?.compactMap { $0["place"] }
        #expect(places == ["argument 1", "line 1", "line 2"])
        let host = try await fleet.outcome(["enqueue", "example.com/a.jpg"] + fleet.connection)
        #expect(
            host.errors.contains(
                "argument 1: not a URL that can be fetched: it must begin with http:// or https://, such as https://example.com/a.jpg"),
            "\(host.errors)")
        try await fleet.stop()
    }

    @Test func `a named batch takes no other input`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("one", 0..<5), "--batch", "b"])
        let other = try await fleet.outcome(["enqueue", "-i", try fleet.list("two", 5..<9), "--batch", "b"] + fleet.connection)
        #expect(other.status == 64)
        #expect(other.errors.hasPrefix("Error: The batch 'b' was begun with another input, or its file has changed since"))
        try await fleet.stop()
    }

    @Test func `an interrupted enqueue of a named batch says how to go on`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let (child, input) = try await fleet.startFeeding(["enqueue", "--batch", "b", "-i", "-"])
        child.signal(SIGTERM)
        #expect(try await child.exitStatus == .exited(143))
        try await child.errors.finished()
        #expect(child.errors.text.hasSuffix("stay in the queue, and the same command goes on where it stopped.\n"))
        #expect(try await fleet.json(["batch", "show", "b"])["state"] as? String == "open")
        try input.close()
        try await fleet.stop()
    }

    @Test func `an interrupted enqueue of a batch without a name says under which name it goes on, and does so`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let (child, input) = try await fleet.startFeeding(["enqueue", "-i", "-"])
        child.signal(SIGTERM)
        #expect(try await child.exitStatus == .exited(143))
        try await child.errors.finished()
        let batches = try await fleet.json(["batch", "list"])["batches"] as? [[String: Any]]
        let batch = try #require(batches?.first)
        let name = try #require(batch["batch"] as? String)
        #expect(child.errors.text.hasSuffix(" as the batch '\(name)'. Add '--batch \(name)' to the command to go on where it stopped.\n"))
        #expect(batch["state"] as? String == "open")
        try input.close()
        // A file is another input than a standard input.
        let list = try fleet.list("one", 0..<5)
        let given = try #require(try await fleet.json(["enqueue", "-i", list])["batch"] as? String)
        let again = try await fleet.json(["enqueue", "-i", list, "--batch", given])
        #expect(again["accepted"] as? Int == 5)
        #expect(try await fleet.json(["batch", "show", given])["total"] as? Int == 5)
        try await fleet.stop()
    }

    @Test func `a batch that is gone while it is waited for is no wrong usage`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let waiting = try fleet.start(["enqueue", "-i", fleet.list, "--wait", "--batch", "b"] + fleet.connection)
        try await eventually("the batch is there") {
            try await fleet.outcome(["batch", "show", "b"] + fleet.connection).output.contains("state      running")
        }
        #expect(try await fleet.outcome(["purge", "--yes"] + fleet.connection).status == 0)
        #expect(try await waiting.exitStatus == .exited(69))
        try await waiting.errors.finished()
        #expect(waiting.errors.text.contains("Redis knows the batch 'b' no more"), "\(waiting.errors.text)")
        try await fleet.stop()
    }

    @Test func `enqueue --wait reports how the batch ended`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let waiting = try fleet.start(
            ["enqueue", "-i", fleet.list, fleet.origin.url("/nothing"), "--wait", "--batch", "b"] + fleet.connection)
        let worker = try fleet.start(["work", "--store", fleet.out] + fleet.local + fleet.connection)
        #expect(try await waiting.exitStatus == .exited(1))
        try await waiting.output.finished()
        #expect(waiting.output.text == "Accepted 4 URLs; 0 invalid. Batch: b\n3 of 4 URLs done, 1 failed.\n")
        let json = try await fleet.json(["enqueue", fleet.origin.urls[0], "--wait"])
        #expect((json["outcome"] as? [String: Any])?["done"] as? Int == 1)
        worker.signal(SIGTERM)
        #expect(try await worker.exitStatus == .exited(0))
        try await fleet.stop()
    }

    @Test func `a delayed URL waits, and a refreshed URL is fetched again`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let url = fleet.origin.urls[0]
        _ = try await fleet.text(["enqueue", url])
        #expect(try await fleet.outcome(fleet.work).status == 0)
        _ = try await fleet.text(["enqueue", url, "--refresh"])
        #expect(try await fleet.outcome(fleet.work).status == 0)
        #expect(try await fleet.requests().values.reduce(0, +) == 2)
        // An outcome as old as that will do, whatever it says itself.
        _ = try await fleet.text(["enqueue", url, "--max-age", "1h"])
        #expect(try await fleet.outcome(fleet.work).status == 0)
        #expect(try await fleet.requests().values.reduce(0, +) == 2)
        _ = try await fleet.text(["enqueue", url, "--delay", "1h"])
        let jobs = try await fleet.json(["status"])["jobs"] as? [String: Any]
        #expect(jobs?["delayed"] as? Int == 1 && jobs?["ready"] as? Int == 0)
        try await fleet.stop()
    }
}
