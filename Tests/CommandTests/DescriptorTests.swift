import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct DescriptorTests {
    private let program = Program(home: "/dev/null/none")
    private let redis = "--redis unix:///nonexistent/socket"

    @Test("A limit on open files that is too low to work at all is exit 69 and says so", arguments: [10, 18, 19, 20, 21, 22, 63])
    func tooLow(limit: Int) async throws {
        for words in ["status \(redis)", "run http://h/ -d /dev/null/out \(redis)"] {
            let outcome = try await program.run(script: "ulimit -n \(limit); exec \"$0\" \(words)")
            #expect(outcome.status == 69)
            #expect(
                outcome.errors == """
                    Error: This process may have only \(limit) files open, too few to work: raise 'ulimit -n' to 64 or more.

                    """)
        }
    }

    @Test("A concurrency that the limit on open files cannot bear is exit 64 and names both")
    func tooManyRequests() async throws {
        for words in ["run http://h/ -d /dev/null/out", "work --store /dev/null/out"] {
            let outcome = try await program.run(script: "ulimit -n 200; exec \"$0\" \(words) --concurrency 35 \(redis)")
            #expect(outcome.status == 64)
            #expect(
                outcome.errors == """
                    Error: This process may have only 200 files open, too few for 35 requests at once: use '--concurrency 34' or less, or \
                    raise 'ulimit -n' to 204.

                    """)
            let fits = try await program.run(script: "ulimit -n 200; exec \"$0\" \(words) --concurrency 34 \(redis)")
            #expect(fits.status == 74)
            let none = try await program.run(script: "ulimit -n 64; exec \"$0\" \(words) --concurrency 1 \(redis)")
            #expect(none.status == 64)
            #expect(none.errors.hasSuffix("too few for 1 request at once: raise 'ulimit -n' to 68.\n"))
        }
    }

    @Test("A low limit is raised as far as the system permits")
    func raised() async throws {
        let outcome = try await program.run(script: "ulimit -S -n 30; exec \"$0\" run http://h/ -d /dev/null/out \(redis)")
        #expect(outcome.status == 74)
    }

    @Test("A list is fetched under the lowest limit that its concurrency permits")
    func lowest() async throws {
        let fleet = try await Fleet.start(files: 100)
        let outcome = try await fleet.outcome(script: "ulimit -n 128; exec \"$0\" \"$@\"", fleet.run + ["--concurrency", "16"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test("A closed standard output is exit 74, and nothing else is written to by mistake")
    func closedOutput() async throws {
        for redirection in [">&-", "<&- >&-"] {
            let outcome = try await program.run(script: "exec \"$0\" --version \(redirection)")
            #expect(outcome.status == 74)
            #expect(outcome.errors == "Error: Standard output cannot be written: Bad file descriptor.\n")
        }
        let silent = try await program.run(script: "exec \"$0\" --version 2>&-")
        #expect(silent.status == 0)
        let fleet = try await Fleet.start(files: 20)
        let run = try await fleet.outcome(script: "exec \"$0\" \"$@\" <&- >&-", fleet.run)
        #expect(run.status == 74)
        #expect(run.complaints == "Error: Standard output cannot be written: Bad file descriptor.\n")
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test("A closed standard input is no input that can be used")
    func closedInput() async throws {
        let fleet = try await Fleet.start(files: 2)
        let outcome = try await fleet.outcome(
            script: "exec \"$0\" \"$@\" <&-", ["run", "-i", "-", "-d", fleet.out] + fleet.local + fleet.connection)
        #expect(outcome.status == 65)
        #expect(outcome.errors == "Error: Standard input cannot be read: Bad file descriptor.\n")
        #expect(try await fleet.queueKeys() == .list([]))
        try await fleet.stop()
    }
}
