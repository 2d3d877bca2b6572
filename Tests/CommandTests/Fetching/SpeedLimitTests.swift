import GannetTestKit
import Testing

@testable import GannetCommand

/// `--limit-rate`
@Suite(.timeLimit(.minutes(2))) struct SpeedLimitTests {
    @Test(arguments: [
        ["run", "http://h/", "-d", "out"], ["work", "--store", "out"], ["get", "http://h/", "--fetch"],
        ["export", "--batch", "b", "-d", "out"],
    ])
    func `every command that fetches has a speed limit, and none without the option`(words: [String]) throws {
        for (option, speed) in [([], "nil"), (["--limit-rate", "1.5M"], "Optional(1572864)")] as [([String], String)] {
            guard case .command(let arguments) = try CommandTable.parser.parse(words + option, environment: [:]) else {
                Issue.record("\(words) is no command")
                return
            }
            let isForJobs = words[0] == "run" || words[0] == "work"
            let settings = try FetchOptions(arguments, forJobs: isForJobs).checkedSettings()
            #expect("\(settings)".contains("maximumSpeed: \(speed)"), "\(settings)")
        }
    }

    @Test func `a run under a limit fetches everything, and the time for which it holds a request back is not the request's`() async throws
    {
        let fleet = try await Fleet.start(files: 20)
        let limited = try await fleet.outcome(fleet.run + ["--limit-rate", "256k"])
        #expect(limited.status == 0, "\(limited.errors)")
        try fleet.expectAllBodies()

        // At 64 KB a second the limit holds it back for longer than its timeout.
        try fleet.folder.write([UInt8](repeating: 7, count: 150_000), to: "large.bin")
        let large = try await Origin.start(.init { $0.directives = "location = /large.bin { root \(fleet.folder.path); }" })
        let words = ["run", large.url("/large.bin"), "-d", fleet.folder.file("other"), "--timeout", "1s", "--retries", "3"]
        let slow = try await fleet.outcome(words + fleet.local + fleet.connection + ["--limit-rate", "64k"])
        #expect(slow.status == 0, "\(slow.errors)")
        try await large.stop()
        try await fleet.stop()
    }
}
