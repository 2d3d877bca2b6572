import Foundation
import GannetTestKit
import Testing

/// The remains of an `export` that was interrupted, or came too early.
@Suite(.timeLimit(.minutes(3))) struct ExportInterruptionTests {
    private static let answer: [HostileServer.Step] = [
        .readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"), .close,
    ]

    @Test func `an export that was killed goes on where it stopped, and leaves nothing half-written`() async throws {
        let fleet = try await Fleet.start(files: 800)
        // The body that it sends to the worker is not in Redis any more, and the export gets no other.
        let gate = try HostileServer(scripts: [Self.answer, [.silence], Self.answer])
        try await fleet.fetchBatch(more: ["http://127.0.0.1:\(gate.port)/x.gate"])
        #expect(try await fleet.forgetBodies(size: 4) == 1)
        let words = fleet.export + ["--refetch", "--lease", "5s"] + fleet.local
        let first = try await fleet.start(words, untilFetched: 50)
        try await gate.accepted(2)
        first.kill()
        _ = try await first.exitStatus
        #expect(!FileManager.default.fileExists(atPath: fleet.manifestPath))
        let there = try fleet.inodes().filter { !$0.key.hasPrefix(".gannet-") }
        #expect(there.count >= 50 && there.count <= 800)

        let second = try await fleet.outcome(words)
        #expect(second.status == 0, "\(second.errors)")
        #expect(
            second.output.hasPrefix("\(801 - there.count) bod")
                && second.output.contains(" written, \(there.count) there already, 0 failed; "),
            "\(second.output)")
        try fleet.expectAllBodies()
        let after = try fleet.inodes()
        #expect(there.allSatisfy { after[$0.key] == $0.value })
        #expect(try fleet.exported().count == 801)
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a signal ends an export, the manifest from before stays, and nobody else uses the folder meanwhile`() async throws {
        let fleet = try await Fleet.start(files: 5)
        // It answers the worker and the last to ask, and is silent to the one in between.
        let gate = try HostileServer(scripts: [Self.answer, [.silence], Self.answer])
        try await fleet.fetchBatch(more: ["http://127.0.0.1:\(gate.port)/x.gate"])
        #expect(try await fleet.outcome(fleet.export).status == 0)
        let manifest = try contents(ofFile: fleet.manifestPath)
        let line = try #require(try fleet.exported().first { $0.url?.hasSuffix(".gate") == true })
        try FileManager.default.removeItem(atPath: fleet.out + "/" + #require(line.file))
        #expect(try await fleet.forgetBodies() > 0)

        // A caller that leaves gives its URL up at once, without waiting for the end of the lease.
        let words = fleet.export + ["--refetch", "--lease", "600s"] + fleet.local
        let interrupted = try fleet.start(words)
        try await gate.accepted(2)
        let other = try await fleet.outcome(fleet.export)
        #expect(other.status == 74 && other.errors.contains(" writes to the folder "), "\(other.errors)")
        interrupted.signal(SIGINT)
        #expect(try await interrupted.exitStatus == .exited(130))
        try await interrupted.errors.finished()
        #expect(interrupted.errors.text == "gannet: interrupted before it was done; the same command goes on where it stopped.\n")
        #expect(try contents(ofFile: fleet.manifestPath) == manifest)

        let again = try await fleet.outcome(words)
        #expect(again.status == 0 && again.output.hasPrefix("1 body written, 5 there already, 0 failed; 4 B"), "\(again)")
        #expect(try fleet.exported().count == 6)
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `an export of an incomplete batch writes the bodies that there are, and is exit 75`() async throws {
        let fleet = try await Fleet.start(files: 10)
        let gate = try fleet.gateList(after: 4)
        let enqueued = try await fleet.outcome(["enqueue", "-i", fleet.list, "--batch", "b"] + fleet.connection)
        #expect(enqueued.status == 0)
        let words = ["work", "--concurrency", "2", "--until-empty"] + fleet.local + fleet.connection
        let worker = try await fleet.start(words, untilFetched: 4)
        try await gate.accepted(2)
        let early = try await fleet.outcome(fleet.export)
        #expect(early.status == 75)
        #expect(early.output.hasPrefix("4 bodies written, 0 failed, 8 still to come; "), "\(early.output)")
        #expect(
            early.errors
                == "Error: The batch is not complete: 8 of 12 URLs have not ended. 'gannet batch wait' waits for 'b'; then run the command again. "
                + "Where its workers wait for room, they go on now, and only further exports make more.\n"
        )
        #expect(try fleet.exported().count == 4)
        let ofList = try await fleet.outcome(fleet.export + ["-i", fleet.list])
        #expect(ofList.status == 75 && !ofList.errors.contains("absent"), "\(ofList.errors)")
        let pending = try String(contentsOfFile: fleet.manifestPath, encoding: .utf8).split(separator: "\n").filter {
            $0.contains(#""outcome":"pending""#) && $0.contains(#""class":"pending""#)
        }
        #expect(pending.count == 8)
        worker.terminate()
        _ = try await worker.errors.line { $0.hasPrefix("gannet: stopping") }
        worker.terminate()
        _ = try await worker.exitStatus
        #expect(try await fleet.outcome(words).status == 0)
        let late = try await fleet.outcome(fleet.export)
        #expect(late.status == 0 && late.output.hasPrefix("8 bodies written, 4 there already, 0 failed; "), "\(late)")
        try fleet.expectAllBodies()
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `an export of cancelled jobs writes no body, and is exit 1`() async throws {
        let fleet = try await Fleet.start(files: 2)
        let cancelled = try await fleet.outcome(["enqueue", "-i", fleet.list, "--batch", "b"] + fleet.connection)
        #expect(cancelled.status == 0)
        #expect(try await fleet.outcome(["batch", "cancel", "b"] + fleet.connection).status == 0)
        let outcome = try await fleet.outcome(fleet.export)
        #expect(outcome.status == 1 && outcome.output.hasPrefix("0 bodies written, 0 failed, 2 cancelled; "), "\(outcome)")
        #expect(try contents(ofFile: fleet.manifestPath).isEmpty)
        let list = try await fleet.outcome(fleet.export + ["-i", fleet.list])
        #expect(list.status == 1 && !list.errors.contains("absent"), "\(list)")
        let lines = try String(contentsOfFile: fleet.manifestPath, encoding: .utf8).split(separator: "\n")
        #expect(
            lines.count == 2 && lines.allSatisfy { $0.contains(#""outcome":"failed""#) && $0.contains(#""class":"cancelled""#) }, "\(lines)"
        )
        try await fleet.stop()
    }

    @Test func `a folder that cannot be written, or is full, is exit 74, and its files stay`() async throws {
        let fleet = try await Fleet.start(files: 20)
        try await fleet.fetchBatch()
        let file = try fleet.folder.write([1], to: "file")
        for folder in [file, "/proc/self"] {
            let outcome = try await fleet.outcome(["export", "--batch", "b", "-d", folder] + fleet.connection)
            #expect(outcome.status == 74 && outcome.errors.hasPrefix("Error: ") && outcome.errors.count { $0 == "\n" } == 1, "\(outcome)")
        }
        // No file may have more than 4 KiB, as on a disk that is full.
        // The thread sanitizer would map a larger file of its own, and does without where it finds no folder for it.
        let full = try await fleet.outcome(script: "trap '' XFSZ; ulimit -f 8; TMPDIR=/nowhere exec \"$0\" \"$@\"", fleet.export)
        #expect(full.status == 74 && full.errors.hasPrefix("Error: Cannot write ") && full.errors.count { $0 == "\n" } == 1, "\(full)")
        #expect(!FileManager.default.fileExists(atPath: fleet.manifestPath))
        #expect(try fleet.bodies().allSatisfy { !$0.hasPrefix(".gannet-") })
        let again = try await fleet.outcome(fleet.export)
        #expect(again.status == 0, "\(again.errors)")
        try fleet.expectAllBodies()
        try await fleet.stop()
    }
}
