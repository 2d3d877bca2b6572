import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct SchemaTests {
    @Test func `data of another schema ends each command with 78 and a sentence`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        let commands = [
            fleet.run, fleet.work, ["enqueue", "http://h/"] + fleet.connection, ["status"] + fleet.connection,
            ["get", "--fetch", "http://h/"] + fleet.connection, ["doctor"] + fleet.connection, ["hosts", "list"] + fleet.connection,
            ["purge", "--yes"] + fleet.connection,
        ]
        for schema in ["1.1", "2.0", "3"] {
            _ = try await fleet.redis.command("SET", "{gannet}schema", schema == "1.1" ? schema : "\(schema)/1")
            for words in commands {
                let outcome = try await fleet.outcome(words)
                #expect(outcome.status == 78 && outcome.output == "", "\(words)")
                #expect(
                    outcome.errors == "Error: The data in this namespace has schema \(schema), and this version of gannet knows 4. "
                        + "Use another namespace, or the version that wrote it. '--namespace' names another.\n", "\(words)")
            }
        }
        #expect(try await fleet.redis.command("DBSIZE") == .integer(1))
        #expect(try await fleet.outcome(["status", "--namespace", "other"] + fleet.connection).status == 0)
        try await fleet.stop()
    }

    @Test func `an entry that is no schema ends each command with 78, and the sentence says what to set`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        for schema in ["4", "4/0"] {
            _ = try await fleet.redis.command("SET", "{gannet}schema", schema)
            for words in [fleet.run, fleet.work, ["enqueue", "http://h/"] + fleet.connection, ["status"] + fleet.connection] {
                let outcome = try await fleet.outcome(words)
                #expect(outcome.status == 78 && outcome.output == "", "\(words)")
                #expect(outcome.errors.hasPrefix("Error: The key '{gannet}schema' holds '\(schema)', which is no schema"))
                #expect(outcome.errors.contains("Set the key to '4/1'"))
            }
        }
        try await fleet.stop()
    }

    @Test func `a private Redis with data of another schema is refused with a way out, and the way out leads on`() async throws {
        let origin = try await Origin.start(.init { $0.fileCount = 3 })
        try await Home.with { home in
            let program = Program(home: home.path)
            _ = try await program.process("status")
            #expect(try await home.ask("SET", "{gannet}schema", "2.0/1") == "OK")
            let folder = try TemporaryFolder()
            let run = ["run"] + origin.urls + ["-d", folder.file("out"), "--allow-net", "127.0.0.0/8"]
            for words in [run, ["status"], ["enqueue", "http://h/"]] {
                let outcome = try await program.process(words)
                #expect(outcome.status == 78 && outcome.output == "", "\(words)")
                #expect(
                    outcome.errors.hasSuffix(
                        "Error: The data in this namespace has schema 2.0, and this version of gannet knows 4. Use another namespace, or the "
                            + "version that wrote it. '--namespace' names another. To begin anew, run 'gannet redis stop', and remove the "
                            + "folder \(home.folder)/data of the private Redis.\n"), "\(outcome.errors)")
            }
            _ = try await program.process("redis", "stop")
            _ = try await ChildProcess.succeed("rm", ["-r", home.folder + "/data"])
            let outcome = try await program.process(run)
            #expect(outcome.status == 0 && outcome.output.hasPrefix("3 URLs fetched, 0 failed"), "\(outcome.errors)")
        }
        try await origin.stop()
    }
}
