import Foundation
import GannetTestKit
import Testing

/// The program in the README is the one that is built here.
struct ReadmeTests {
    @Test func `the README shows the program that is built`() throws {
        let readme = try String(contentsOf: Repository.url("README.md"), encoding: .utf8)
        let source = try String(contentsOf: Repository.url("Tests/Helper/Readme/ReadmeProgram.swift"), encoding: .utf8)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let begin = try #require(lines.firstIndex { $0.hasSuffix("// README: begin") })
        let end = try #require(lines.firstIndex { $0.hasSuffix("// README: end") })
        let body = lines[(begin + 1)..<end].map { $0.dropFirst(8) }
        let program = (lines.filter { $0.hasPrefix("import ") } + [""] + body).joined(separator: "\n")
        #expect(readme.contains("```swift\n\(program)\n```\n"))
    }

    @Test func `it fetches pictures, names files that are none, and finds them on the disk the next time`() async throws {
        let folder = try TemporaryFolder()
        let samples = Repository.url("Tests/PictureTests/Probe/Samples").path
        let origin = try await Origin.start(
            .init { $0.directives = "location /pictures/ { alias \"\(samples)/\"; add_header Cache-Control max-age=600; }" })
        let arguments = [origin.url("/pictures/rgb8.png"), origin.url("/pictures/make.py"), origin.url("/pictures/none.png")]
        // The values of a program's globals at its end are no leak, but the address sanitizer sees weak references to them as one.
        let environment = ["TMPDIR": folder.path, "PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0"]
        for round in 1...2 {
            let process = try ChildProcess(.init(Program.built("TestHelper"), ["readme"] + arguments, environment: environment))
            #expect(try await process.exitStatus == .exited(0))
            try await process.output.finished()
            let text = process.output.text
            #expect(text.contains("rgb8.png: a PNG"))
            #expect(text.contains("make.py): Not an image"))
            #expect(text.contains("The server answered 404"))
            #expect(text.contains(round == 1 ? "2 downloaded, 0 from the disk" : "0 downloaded, 2 from the disk"))
        }
        try await origin.stop()
    }
}
