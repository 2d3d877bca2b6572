import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct SchemaTests {
    @Test func `a namespace of another schema is exit 78, and a later minor version is accepted`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        let commands = [fleet.run, fleet.work, ["enqueue", "http://h/"] + fleet.connection, ["status"] + fleet.connection]
        for schema in ["1.4", "3.0"] {
            _ = try await fleet.redis.command("SET", "{gannet}schema", schema == "1.4" ? schema : "\(schema)/1")
            for words in commands {
                let outcome = try await fleet.outcome(words)
                #expect(outcome.status == 78)
                #expect(
                    outcome.errors.hasPrefix("Error: The data in this namespace has schema \(schema), and this version of gannet knows 2."))
                #expect(outcome.output == "")
            }
        }
        for schema in ["2.0", "2.0/0"] {
            _ = try await fleet.redis.command("SET", "{gannet}schema", schema)
            for words in commands {
                let outcome = try await fleet.outcome(words)
                #expect(outcome.status == 78)
                #expect(outcome.errors.hasPrefix("Error: The key '{gannet}schema' holds '\(schema)', which is no schema"))
                #expect(outcome.errors.contains("Set the key to '2.0/1'"))
            }
        }
        #expect(try await fleet.outcome(["status", "--namespace", "other"] + fleet.connection).status == 0)
        _ = try await fleet.redis.command("SET", "{gannet}schema", "2.9/1")
        #expect(try await fleet.outcome(fleet.run).status == 0)
        try await fleet.stop()
    }
}
