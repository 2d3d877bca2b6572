import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct RunTests {
    @Test(arguments: [["--json"], []])
    func `a reader that has left does not make a failed run a good one`(words: [String]) async throws {
        let fleet = try await Fleet.start(files: 1)
        let run = fleet.run + words + [fleet.origin.url("/nothing")]
        let outcome = try await fleet.outcome(run, output: .nobody)
        #expect(outcome.status == 1, "\(outcome.errors)")
        try await fleet.stop()
    }

    @Test func `a list is fetched with a Redis of its own, and nothing of the run stays in it`() async throws {
        let fleet = try await Fleet.start(files: 300)
        try await Home.with { home in
            let program = Program(home: home.path)
            let outcome = try await program.process(["run", "-i", fleet.list, "-d", fleet.out] + fleet.local)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.hasPrefix("300 URLs fetched, 0 failed; "))
            #expect(outcome.output.hasSuffix(" to \(fleet.out)\n"))
            try fleet.expectAllBodies()
            #expect(try await fleet.requests().values.allSatisfy { $0 == 1 })
            let status = try await program.process("status")
            #expect(status.output.contains("enqueued  0\n"))
        }
        try await fleet.stop()
    }

    @Test func `the numbers of each progress line add up to the list, with retries and redirects`() async throws {
        let fleet = try await Fleet.start {
            $0.fileCount = 40
            $0.addresses = ["127.0.0.1", "127.0.0.2"]
            $0.directives = """
                location /broken/ { return 500; }
                location /moved/ { return 302 http://127.0.0.2:$server_port/0.bin; }
                """
        }
        let more = (0..<40).flatMap { [fleet.origin.url("/broken/\($0)"), fleet.origin.url("/moved/\($0)")] }
        try fleet.folder.write(Array((more + fleet.origin.urls).joined(separator: "\n").utf8), to: "urls.txt")
        let run = try fleet.start(
            fleet.run + ["--retries", "1", "--host-limit", "4"], with: ["GANNET_TEST_TIMES": Program.times + ",progress=1ms"])
        #expect(try await run.exitStatus == .exited(1))
        try await run.errors.finished()
        let lines = run.errors.lines.filter { $0.contains(" different URLs done, ") }
        #expect(lines.count > 9)
        for line in lines {
            func sum(_ pattern: Regex<(Substring, Substring)>) -> Int { line.matches(of: pattern).reduce(0) { $0 + (Int($1.1) ?? 0) } }
            let (ended, total) = (sum(#/ (\d+) of \d+ different URLs done/#), sum(#/ of (\d+) different URLs done/#))
            #expect(ended == sum(#/ (\d+) (?:fetched|there already|failed|not permitted)/#), "\(line)")
            let open = sum(#/ (\d+) waits? for /#) + sum(#/, (\d+) for (?:its|their) next attempt/#) + sum(#/ (\d+) under way or in line/#)
            #expect(ended <= total && (open == 0 || ended + open == total), "\(line)")
        }
        try await fleet.stop()
    }

    @Test func `a run names its queue, and takes no other from the environment`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let help = try await fleet.outcome(["run", "--help"])
        #expect(!help.output.contains("--queue"))
        let outcome = try await fleet.outcome(fleet.run, with: ["GANNET_QUEUE": "a:b"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("gannet: the queue of this run is 'run-"))
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `local addresses are refused unless they are permitted, and twenty refusals are one line with their count`() async throws {
        let fleet = try await Fleet.start(files: 30)
        let outcome = try await fleet.outcome(["run", "-i", fleet.list, "-d", fleet.out] + fleet.connection)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("0 URLs fetched, 30 failed (address refused 30); 30 rows, 0 B in "))
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("failed: The address is not public and not permitted (http://127.0.0.1:") } == 1)
        #expect(lines.count { $0.contains("refused unless they are allowed: '--allow-net 127.0.0.1/32' allows this one.") } == 1)
        #expect(lines.last == "… and 29 more URLs with addresses that are not public")
        #expect(try fleet.bodies() == [])
        #expect(try await fleet.requests().isEmpty)
        #expect(try await fleet.queueKeys() == .list([]))
        try await fleet.stop()
    }

    @Test func `a line without a URL is named by its number, the other URLs are fetched, and the exit status is 1`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let lines = ["# a list", fleet.origin.urls[0], "no url", "", fleet.origin.urls[1], "ftp://h/x", fleet.origin.urls[1]]
        try fleet.folder.write(Array(lines.joined(separator: "\n").utf8), to: "urls.txt")
        let outcome = try await fleet.outcome(fleet.run + [fleet.origin.urls[2], "htp:/x"])
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("3 URLs fetched, 0 failed, 1 listed more than once, 3 invalid; 7 rows, "))
        #expect(
            outcome.complaints == """
                argument 2: not a URL that can be fetched: only http and https are fetched, not 'htp'
                line 3: not a URL that can be fetched: it must begin with http:// or https://
                line 6: not a URL that can be fetched: only http and https are fetched, not 'ftp'

                """)
        #expect(try await fleet.requests().count == 3)
        #expect(try await fleet.requests().values.allSatisfy { $0 == 1 })
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `a metadata address is refused without a word about how to allow it`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let outcome = try await fleet.outcome(["run", "http://169.254.169.254/", "-d", fleet.out] + fleet.connection)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("169.254.169.254 is a cloud metadata address.\n"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("allow-net"), "\(outcome.errors)")
        try await fleet.stop()
    }

    @Test func `a URL that answers 404 is a failure, and standard input an input`() async throws {
        let fleet = try await Fleet.start(files: 2)
        let words = ["run", "-i", "-", "-d", fleet.out, fleet.origin.url("/nothing")] + fleet.local + fleet.connection
        let outcome = try await fleet.outcome(words, input: fleet.list)
        #expect(outcome.status == 1)
        #expect(outcome.complaints == "failed: The server answered 404 (\(fleet.origin.url("/nothing"))).\n")
        #expect(outcome.output.hasPrefix("2 URLs fetched, 1 failed (http-404 1); 3 rows, "))
        #expect(outcome.output.hasSuffix(" to \(fleet.out); manifest.jsonl there lists the failures, with reasons\n"))
        try fleet.expectAllBodies()
        #expect(try await fleet.queueKeys() == .list([]))
        try await fleet.stop()
    }

    @Test func `an origin that fails for a moment is asked again, unless --retries is 0`() async throws {
        let fleet = try await Fleet.start(files: 1)
        for (retries, status, summary) in [
            ("3", 0, "1 URL fetched, 0 failed; "), ("0", 1, "0 URLs fetched, 1 failed (http-500 1); 1 row, "),
        ] {
            let origin = try HostileServer(
                scripts: ["500 Sorry", "200 OK"].map { answer in
                    [
                        .readUntil("\r\n\r\n"), .send("HTTP/1.1 \(answer)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close,
                    ]
                })
            let words = ["run", "http://127.0.0.1:\(origin.port)/x.gate", "-d", fleet.out, "--retries", retries]
            let outcome = try await fleet.outcome(words + fleet.local + fleet.connection)
            #expect(outcome.status == Int32(status) && outcome.output.hasPrefix(summary), "\(outcome)")
            try await origin.stop()
        }
        try await fleet.stop()
    }

    @Test func `an input without a URL is exit 65`() async throws {
        let fleet = try await Fleet.start(files: 2)
        for content in ["", "\n\n# nothing\n", "no url\n"] {
            try fleet.folder.write(Array(content.utf8), to: "urls.txt")
            for words in [fleet.run, ["enqueue", "-i", fleet.list] + fleet.connection] {
                let outcome = try await fleet.outcome(words)
                #expect(outcome.status == 65)
                #expect(outcome.errors.hasSuffix("Error: The input holds no URL that can be fetched.\n"))
                let left = try await fleet.outcome(["status"] + fleet.connection)
                #expect(left.output.contains("\n" + fleet.row("enqueued", "0\n")))
            }
        }
        let missing = try await fleet.outcome(["run", "-i", fleet.list + "x", "-d", fleet.out] + fleet.connection)
        #expect(missing.status == 65)
        #expect(missing.errors == "Error: The input file '\(fleet.list)x' cannot be read: No such file or directory.\n")
        try await fleet.stop()
    }

    @Test func `a binary file is refused in one line, and a queue is named only if a URL is in it`() async throws {
        let fleet = try await Fleet.start(files: 2)
        #expect(try await fleet.outcome(fleet.run).errors.hasPrefix("gannet: the queue of this run is 'run-"))
        let again = try await fleet.outcome(fleet.run)
        #expect(again.errors == "gannet: 2 of 2 URLs are there already; 0 to fetch.\n")
        try fleet.folder.write([UInt8](repeating: 0, count: 1000), to: "urls.txt")
        let binary = try await fleet.outcome(fleet.run)
        #expect(
            binary.errors == "Error: Cannot read the input file '\(fleet.list)': it is a binary file; a list of URLs is text.\n",
            "\(binary.errors)")
        try fleet.folder.write(Array("no url\n".utf8), to: "urls.txt")
        let empty = try await fleet.outcome(fleet.run)
        #expect(!empty.errors.contains("the queue of this run"), "\(empty.errors)")
        try await fleet.stop()
    }

    @Test func `an input that cannot be read is exit 65, and leaves nothing behind`() async throws {
        let fleet = try await Fleet.start(files: 2)
        let run = ["run", "-i", "-", "-d", fleet.out] + fleet.local + fleet.connection
        for (words, redirection) in [
            (["run", "-i", fleet.folder.path] + run.dropFirst(3), ""), (run, "< '\(fleet.folder.path)'"), (run, "<&-"),
            (run, "0> '\(fleet.folder.path)/new'"),
        ] {
            let outcome = try await fleet.outcome(script: "exec \"$0\" \"$@\" \(redirection)", words)
            #expect(outcome.status == 65, "\(redirection): \(outcome.errors)")
            #expect(outcome.errors.hasPrefix("Error: Cannot read ") || outcome.errors.hasPrefix("Error: Standard input cannot be read: "))
            #expect(try await fleet.queueKeys() == .list([]))
        }
        // Nothing had been begun, so nothing starts over.
        let good = try await fleet.outcome(run, input: fleet.list)
        #expect(good.status == 0)
        #expect(good.complaints == "")
        let path = try await fleet.outcome(["run", "-i", "\u{1b}[31m", "-d", fleet.out] + fleet.connection)
        #expect(path.status == 65)
        #expect(!path.errors.contains("\u{1b}"))
        try fleet.folder.write([], to: "\u{1b}x")
        let folder = try await fleet.outcome(["run", "http://h/", "-d", fleet.folder.file("\u{1b}x")] + fleet.connection)
        #expect(folder.status == 74)
        #expect(!folder.errors.contains("\u{1b}"))
        try await fleet.stop()
    }

    @Test func `a manifest that is none of gannet's is not replaced`() async throws {
        let fleet = try await Fleet.start(files: 2)
        try FileManager.default.createDirectory(atPath: fleet.out, withIntermediateDirectories: false)
        let notes = Array("my own notes\n".utf8)
        try fleet.folder.write(notes, to: "out/manifest.jsonl")
        let refused = try await fleet.outcome(fleet.run)
        #expect(refused.status == 74)
        #expect(
            refused.errors
                == "Error: The file \(fleet.out)/manifest.jsonl is no manifest of gannet, and would be replaced. Move it away, or choose another folder.\n"
        )
        #expect(try contents(ofFile: "\(fleet.out)/manifest.jsonl") == notes)
        #expect(try await fleet.requests().isEmpty)
        // A manifest whose record was removed is gannet's own.
        try fleet.folder.write(Array(#"{"line":1,"url":"http://h/","outcome":"failed"}"#.utf8), to: "out/manifest.jsonl")
        #expect(try await fleet.outcome(fleet.run).status == 0)
        try await fleet.stop()
    }

    @Test func `a folder that cannot be used is exit 74`() async throws {
        let fleet = try await Fleet.start(files: 2)
        try fleet.folder.write([], to: "out")
        let inTheWay = try await fleet.outcome(fleet.run)
        #expect(inTheWay.status == 74)
        #expect(inTheWay.errors == "Error: \(fleet.out) is not a folder.\n")
        for words in [["run", "-i", fleet.list, "-d", "/proc/self"], ["work", "--store", "/proc/self"]] {
            let readOnly = try await fleet.outcome(words + fleet.connection)
            #expect(readOnly.status == 74)
            #expect(readOnly.errors.hasPrefix("Error: The folder /proc/self cannot be written to: "))
        }
        try await fleet.stop()
    }

    @Test(
        .enabled(
            if: MachineNeed.isMet(MachineNeed.canMount), "Nothing can be mounted here, so no disk can be filled. Run as root."))
    func `a full disk ends a run, names the cause, and the run goes on when there is room`() async throws {
        let fleet = try await Fleet.start(files: 40)
        try FileManager.default.createDirectory(atPath: fleet.out, withIntermediateDirectories: false)
        try await ChildProcess.succeed("mount", ["-t", "tmpfs", "-o", "size=64k", "none", fleet.out])
        let outcome = try await fleet.outcome(fleet.run)
        let temporary = try fleet.bodies().filter { $0.contains(".gannet-") }
        let asked = try await fleet.requests()
        let vain = try await fleet.outcome(fleet.run)
        let askedAgain = try await fleet.requests()
        try await ChildProcess.succeed("mount", ["-o", "remount,size=64m", fleet.out])
        let again = try await fleet.outcome(fleet.run)
        let expectation = Result { try fleet.expectAllBodies() }
        try await ChildProcess.succeed("umount", [fleet.out])
        #expect(outcome.status == 74)
        let last = "No space left on device. Complete files stay; when there is room, the same command goes on.\n"
        #expect(outcome.errors.hasSuffix(last), "\(outcome.errors)")
        #expect(temporary == [])
        #expect(vain.status == 74 && vain.errors.contains("is still full"), "\(vain.errors)")
        #expect(!asked.isEmpty && asked == askedAgain)
        #expect(again.status == 0, "\(again.errors)")
        try expectation.get()
        try await fleet.stop()
    }

    @Test(
        .enabled(
            if: MachineNeed.isMet(MachineNeed.canMount), "Nothing can be mounted here, so no disk can be filled. Run as root."))
    func `a run whose manifest has no room at its deadline says so, keeps the earlier one, and goes on when there is room`() async throws {
        let fleet = try await Fleet.start(files: 3)
        try FileManager.default.createDirectory(atPath: fleet.out, withIntermediateDirectories: false)
        try await ChildProcess.succeed("mount", ["-t", "tmpfs", "-o", "size=256k", "none", fleet.out])
        let first = try await fleet.outcome(fleet.run)
        let earlier = Result { try contents(ofFile: fleet.manifestPath) }
        // Nothing else is to be written: all other bodies are there, and this URL never ends.
        let silent = try HostileServer(scripts: [[.silence]])
        try fleet.folder.write(
            Array((fleet.origin.urls + ["http://127.0.0.1:\(silent.port)/"]).joined(separator: "\n").utf8), to: "urls.txt")
        let run = fleet.run + ["--drain-timeout", "0s", "--deadline", "1s"]
        try await ChildProcess.succeed("/bin/sh", ["-c", "cat /dev/zero 2>&- > '\(fleet.out)/ballast' || true"])
        let full = try await fleet.outcome(run)
        let kept = Result { try contents(ofFile: fleet.manifestPath) }
        let temporary = try fleet.bodies().filter { $0.contains(".gannet-") }
        let keys = try await fleet.queueKeys()
        try FileManager.default.removeItem(atPath: fleet.out + "/ballast")
        try await ChildProcess.succeed("mount", ["-o", "remount,size=64m", fleet.out])
        let again = try await fleet.outcome(run)
        let rows = Result { try fleet.manifest() as [[String: Any]] }
        try await ChildProcess.succeed("umount", [fleet.out])
        #expect(first.status == 0, "\(first.errors)")
        #expect(full.status == 74)
        #expect(full.errors.contains("\ngannet: no manifest was written; one of an earlier run stays as it is.\nError: "), "\(full.errors)")
        let last = "No space left on device. Complete files stay; when there is room, the same command goes on.\n"
        #expect(full.errors.hasSuffix(last), "\(full.errors)")
        #expect(try kept.get() == earlier.get() && temporary == [] && keys == .list([]))
        #expect(again.status == 1, "\(again.errors)")
        #expect(try rows.get().map { $0["outcome"] as? String } == ["cached", "cached", "cached", "failed"])
        try await silent.stop()
        try await fleet.stop()
    }

    @Test(
        .enabled(
            if: MachineNeed.isMet(MachineNeed.canMount), "Nothing can be mounted here, so no disk can be filled. Run as root."))
    func `a worker that is started again on a full disk asks no origin until there is room`() async throws {
        let fleet = try await Fleet.start(files: 40)
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        try FileManager.default.createDirectory(atPath: fleet.out, withIntermediateDirectories: false)
        try await ChildProcess.succeed("mount", ["-t", "tmpfs", "-o", "size=64k", "none", fleet.out])
        var outcomes = [try await fleet.outcome(fleet.work)]
        let asked = try await fleet.requests()
        for _ in 0..<3 { outcomes.append(try await fleet.outcome(fleet.work)) }
        let askedAgain = try await fleet.requests()
        let totals = try await fleet.json(["status"])["totals"] as? [String: Any]
        try await ChildProcess.succeed("mount", ["-o", "remount,size=64m", fleet.out])
        let last = try await fleet.outcome(fleet.work)
        let expectation = Result { try fleet.expectAllBodies() }
        try await ChildProcess.succeed("umount", [fleet.out])
        #expect(outcomes.map(\.status) == [74, 74, 74, 74], "\(outcomes.map(\.errors))")
        #expect(outcomes[3].errors.hasPrefix("Error: The folder \(fleet.out) is still full: the last work in it ended for that reason"))
        #expect(!asked.isEmpty && asked == askedAgain)
        #expect(totals?["failed"] as? Int == 0 && totals?["crashed"] as? Int == 0)
        #expect(last.status == 0, "\(last.errors)")
        try expectation.get()
        // A URL in flight when the disk was full was asked for once more, and no other.
        let counts = try await fleet.requests().values
        #expect(counts.allSatisfy { $0 <= 2 })
        try await fleet.stop()
    }

    @Test func `two runs do not write to one folder, and two signals end a run whose origin is silent`() async throws {
        let fleet = try await Fleet.start(files: 2)
        let silent = try HostileServer(.silence)
        let url = "http://127.0.0.1:\(silent.port)/"
        let first = try fleet.start(["run", url, "-d", fleet.out] + fleet.local + fleet.connection)
        try await silent.accepted(1)
        let second = try await fleet.outcome(fleet.run)
        #expect(second.status == 74)
        #expect(
            second.errors == "Error: Another run, or a worker, writes to the folder \(fleet.out). Wait for it, or choose another folder.\n")
        first.terminate()
        _ = try await first.errors.line { $0.hasPrefix("gannet: stopping; 1 URL in flight may end within ") }
        first.signal(SIGINT)
        #expect(try await first.exitStatus == .exited(143))
        try await first.errors.finished()
        let last = try #require(first.errors.lines.last)
        #expect(last == "gannet: interrupted before it was done; the same command goes on where it stopped.")
        #expect(first.output.text == "")
        try await silent.stop()
        try await fleet.stop()
    }

    @Test func `a reader that has left is no error, and a full disk under standard output is one`() async throws {
        let fleet = try await Fleet.start(files: 5)
        let closed = try await fleet.outcome(fleet.run, output: .nobody)
        #expect(closed.status == 0 && closed.complaints == "")
        try fleet.expectAllBodies()
        for words in [fleet.run, ["status"] + fleet.connection, ["enqueue", "http://h/"] + fleet.connection] {
            let full = try await fleet.outcome(words, output: .file("/dev/full"))
            #expect(full.status == 74)
            #expect(full.errors.contains("Standard output cannot be written: No space left on device."))
        }
        try await fleet.stop()
    }
}
