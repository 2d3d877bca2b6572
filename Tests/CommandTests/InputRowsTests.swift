import Foundation
import GannetTestKit
import Lists
import Testing

@testable import GannetCommand

@Suite struct InputRowsTests {
    private func row(_ number: Int, _ text: String) -> Row {
        Row(.line(number), .url(Array(text.utf8)[...]))
    }

    @Test func `a file is read to its end, in batches`() async throws {
        let folder = try TemporaryFolder()
        let count = 50_000
        try folder.write(Array((1...count).map { "http://host/\($0)" }.joined(separator: "\n").utf8), to: "list")
        let rows = try InputRows(.file(folder.file("list")), ListOptions())
        var (seen, batches) = (0, 0)
        while let batch = try await rows.nextBatch() {
            batches += 1
            for one in batch {
                seen += 1
                #expect(one == row(seen, "http://host/\(seen)"))
            }
        }
        #expect(seen == count)
        #expect(batches > 3)
        #expect(try await rows.nextBatch() == nil)
    }

    @Test func `a file that is not there, or is a folder, is no usable input, before anything is read`() throws {
        #expect {
            try InputRows(.file("/nonexistent/list"), ListOptions())
        } throws: {
            ($0 as? CommandFailure)?.status == .noUsableInput && "\($0)".contains("No such file or directory")
        }
        let here = FileManager.default.currentDirectoryPath
        #expect(throws: CommandFailure(.noUsableInput, "The input file 'none/list' cannot be read: there is no such file in '\(here)'.")) {
            try InputRows(.file("none/list"), ListOptions())
        }
        #expect(throws: CommandFailure(.noUsableInput, "Cannot read the input file '/tmp': Is a directory.")) {
            try InputRows(.file("/tmp"), ListOptions())
        }
    }

    @Test func `cancelling ends the reading of a packed list whose rows need no further read`() async throws {
        let folder = try TemporaryFolder()
        let list = Array(String(repeating: "http://host/\n", count: 400_000).utf8)
        try folder.write(list, to: "list")
        let packing = try Process.run(URL(fileURLWithPath: "/usr/bin/env"), arguments: ["gzip", folder.file("list")])
        packing.waitUntilExit()
        let rows = try InputRows(.file(folder.file("list.gz")), ListOptions())
        #expect(try await rows.nextBatch() != nil)
        let rest = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await rows.nextBatch()
        }
        rest.cancel()
        await #expect(throws: CancellationError.self) { try await rest.value }
    }

    @Test func `a pipe gives its rows as they come, and cancelling ends the wait for more`() async throws {
        let pipe = Pipe()
        let rows = try InputRows(descriptor: pipe.fileHandleForReading.fileDescriptor, owned: false, name: "a pipe", ListOptions())
        try pipe.fileHandleForWriting.write(contentsOf: Data("http://one/\nhttp://two/".utf8))
        #expect(try await rows.nextBatch().map(Array.init) == [row(1, "http://one/")])
        let waiting = Task { try await rows.nextBatch() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        withExtendedLifetime(pipe) {}
    }
}
