import Foundation
import GannetTestKit
import Testing

/// Data of the schema before this version's.
@Suite(.timeLimit(.minutes(3))) struct OlderDataTests {
    /// Some of what schema 1.1 left of a queue with two jobs.
    private static let leftovers = [
        ["SET", "{gannet}schema", "1.1"], ["HSET", "{gannet}q:default:count", "enqueued", "2"],
        ["RPUSH", "{gannet}q:default:ready:normal", "one", "two"], ["HSET", "{gannet}hosts", "h", "x"], ["SET", "{gannet}page:x", "y"],
    ]

    @Test func `data of the older schema is refused with a way out, and purge removes it`() async throws {
        let fleet = try await Fleet.start(.keys, files: 3)
        for words in Self.leftovers + [["SET", "{gannet2}schema", "2.0/1"], ["SET", "{gannet:blob}:x", "body"], ["SET", "mine", "1"]] {
            _ = try await fleet.redis.command(words)
        }
        let refusals = [
            fleet.run, fleet.work, ["enqueue", "http://h/"] + fleet.connection, ["status"] + fleet.connection,
            ["get", "--fetch", "http://h/"] + fleet.connection, ["doctor"] + fleet.connection, ["hosts", "list"] + fleet.connection,
        ]
        for words in refusals {
            let outcome = try await fleet.outcome(words)
            #expect(outcome.status == 78 && outcome.output == "", "\(words)")
            #expect(
                outcome.errors == "Error: The data in this namespace has schema 1.1, and this version of gannet knows 2.0. "
                    + "Let the older version that wrote it finish its jobs, or use another namespace. "
                    + "'gannet purge' removes the data, and '--namespace' names another namespace.\n", "\(words)")
        }
        #expect(try await fleet.outcome(["status", "--namespace", "gannet2"] + fleet.connection).status == 0)

        let asked = try await fleet.outcome(["purge"] + fleet.connection)
        #expect(asked.status == 64)
        #expect(try await fleet.redis.command("DBSIZE") == .integer(8))
        let purged = try await fleet.text(["purge", "--yes"])
        #expect(purged == "Removed all that an older version of gannet (schema 1.1) left in the namespace 'gannet'.\n")
        #expect(try await fleet.redis.command("KEYS", "{gannet}*") == .list([]))
        #expect(try await fleet.redis.command("DBSIZE") == .integer(3))
        #expect(try await fleet.outcome(fleet.run).status == 0)
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `data of a newer schema is refused, and purge does not touch it`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        _ = try await fleet.redis.command("SET", "{gannet}schema", "3.0/1")
        for words in [["status"], ["purge", "--yes"]] {
            let outcome = try await fleet.outcome(words + fleet.connection)
            #expect(outcome.status == 78 && outcome.output == "", "\(words)")
            #expect(
                outcome.errors == "Error: The data in this namespace has schema 3.0, and this version of gannet knows 2.0. "
                    + "Use the newer version that wrote it, or another namespace. '--namespace' names another.\n", "\(words)")
        }
        #expect(try await fleet.redis.command("DBSIZE") == .integer(1))
        try await fleet.stop()
    }

    @Test func `a folder of the older version is gone on with, and only a URL whose standard form has changed is fetched again`()
        async throws
    {
        let fleet = try await Fleet.start {
            $0.fileCount = 8
            $0.directives = "location = /~u { return 200 home; }"
        }
        // The journal of a run that was killed: six of eight files, a line that was cut short, and a URL whose escape was resolved then.
        var journal = "gannet journal 1\n"
        func record(_ url: String, named name: String) async throws {
            let content = Array("the body of \(name)".utf8)
            let id = try #require(try await fleet.json(["explain", url])["id"] as? String)
            let file = "\(id.prefix(3))/\(id)-\(name)"
            try FileManager.default.createDirectory(
                atPath: "\(fleet.out)/\(id.prefix(3))", withIntermediateDirectories: true)
            try Data(content).write(to: URL(filePath: "\(fleet.out)/\(file)"))
            journal += "\(id)\t+\t200\t\(content.count)\t\(sha256(of: content))\t5\t\(file)\tapplication/octet-stream\t\t\n"
        }
        for number in 0..<6 { try await record(fleet.origin.urls[number], named: "\(number).bin") }
        try await record(fleet.origin.url("/~u"), named: "u")
        journal += "d1ffe2e4\t+\t20"
        try FileManager.default.createDirectory(atPath: fleet.out + "/.gannet", withIntermediateDirectories: true)
        try journal.write(toFile: fleet.out + "/.gannet/journal", atomically: false, encoding: .utf8)

        let outcome = try await fleet.outcome(fleet.run + [fleet.origin.url("/%7eu")])
        #expect(
            outcome.status == 0 && outcome.output.hasPrefix("3 URLs fetched, 6 there already, 0 failed"),
            "\(outcome.output)\(outcome.errors)")
        #expect(try await fleet.requests() == ["/6.bin": 1, "/7.bin": 1, "/%7eu": 1])
        try await fleet.stop()
    }

    /// Asks the server of a private Redis.
    private func command(_ home: Home, _ words: String...) async throws -> String {
        try await ChildProcess.succeed("redis-cli", ["-s", home.folder + "/redis.sock"] + words)
    }

    @Test func `a private Redis with older data is set aside, and run works`() async throws {
        let origin = try await Origin.start(.init { $0.fileCount = 3 })
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("redis", "start")
            for words in Self.leftovers { _ = try await ChildProcess.succeed("redis-cli", ["-s", home.folder + "/redis.sock"] + words) }
            // A command that only looks moves nothing.
            #expect(try await program.process("status").status == 78)
            let folder = try TemporaryFolder()
            let words = ["run"] + origin.urls + ["-d", folder.file("out"), "--allow-net", "127.0.0.0/8"]
            let outcome = try await program.process(words)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.hasPrefix("3 URLs fetched, 0 failed"))
            let aside = home.folder + "/data-of-schema-1.1"
            let lines = outcome.errors.split(separator: "\n").filter { $0.contains("older version") }
            #expect(
                lines == [
                    "gannet: The private Redis held data of an older version of gannet (schema 1.1). The data is now in \(aside)."
                ], "\(outcome.errors)")
            #expect(FileManager.default.fileExists(atPath: aside + "/appendonlydir"))
            #expect(try await command(home, "GET", "{gannet}schema").hasPrefix("2.0/1"))
            #expect(try await command(home, "GET", "{gannet}page:x") == "\n")
            #expect(try await program.process(words).errors.contains("older version") == false)

            // The next time it has another name.
            _ = try await command(home, "SET", "{gannet}schema", "1.0")
            #expect(try await program.process("enqueue", "http://h/").status == 0)
            _ = try await command(home, "SET", "{gannet}schema", "1.1")
            #expect(try await program.process("enqueue", "http://h/").status == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: home.folder).filter { $0.hasPrefix("data") }.sorted()
            #expect(names == ["data", "data-of-schema-1.0", "data-of-schema-1.1", "data-of-schema-1.1-2"])
        }
        try await origin.stop()
    }

    @Test func `older data is not set aside while another command uses it, and by one of several runs`() async throws {
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("redis", "start")
            let user = try ChildProcess(
                .init(Program.path, ["work"], environment: program.environment))
            _ = try await user.errors.line { $0.contains("working on the queue") }
            _ = try await command(home, "SET", "{gannet}schema", "1.1")
            let refused = try await program.process("enqueue", "http://h/")
            #expect(refused.status == 78)
            #expect(
                refused.errors.hasSuffix(
                    "Error: The private Redis holds data of an older version of gannet (schema 1.1), and another command uses it. "
                        + "Try again when that command has ended.\n"), "\(refused.errors)")
            user.terminate()
            _ = try await user.exitStatus
            let outcomes = try await withThrowingTaskGroup { group in
                for number in 1...4 { group.addTask { try await program.process("enqueue", "http://h/\(number)") } }
                return try await group.reduce(into: [Program.Outcome]()) { $0.append($1) }
            }
            #expect(outcomes.map(\.status) == [0, 0, 0, 0], "\(outcomes.map(\.errors))")
            #expect(outcomes.count { $0.errors.contains("The data is now in") } == 1)
            let names = try FileManager.default.contentsOfDirectory(atPath: home.folder).filter { $0.hasPrefix("data") }.sorted()
            #expect(names == ["data", "data-of-schema-1.1"])
            #expect(try await program.process("status").output.contains("\nready     4"))
        }
    }
}
