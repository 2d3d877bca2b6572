import Foundation
import Testing

@testable import GannetCommand

@Suite struct URLLinesTests {
    /// Cuts `text` into chunks of `size`, so that every boundary falls everywhere once.
    private func split(_ bytes: [UInt8], limit: Int = 1 << 20, chunk size: Int) -> [InputLine] {
        var splitter = LineSplitter(limit: limit)
        var lines: [InputLine] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { splitter.take($0, into: &lines) }
        }
        splitter.finish(into: &lines)
        return lines
    }

    private func line(_ number: Int, _ text: String) -> InputLine {
        InputLine(number: number, content: .text(Array(text.utf8)))
    }

    @Test("Line ends of both kinds, a byte order mark, comments and blank lines, wherever a chunk ends", arguments: 1...24)
    func lines(size: Int) {
        let text = "\u{FEFF}http://a/\r\n\n# no\n  http://b/\t\r\n\t\r\n#\nhttp://c/#d\nlast"
        #expect(
            split(Array(text.utf8), chunk: size) == [line(1, "http://a/"), line(4, "http://b/"), line(7, "http://c/#d"), line(8, "last")])
    }

    @Test("An empty input has no lines", arguments: ["", "\n", "\r\n\r\n", "\u{FEFF}", "\u{FEFF}\n", "# only\n"])
    func empty(text: String) {
        #expect(split(Array(text.utf8), chunk: 2) == [])
    }

    @Test("A line longer than the limit is skipped to its end and told by its number", arguments: 1...24)
    func longLines(size: Int) {
        let text =
            "abc\nabcdefgh\nabcdefghi\nabcdefgh\r\n" + String(repeating: "x", count: 1000) + "\nend\n" + String(repeating: "y", count: 9)
        let tooLong = InputLine.Content.invalid(.tooLong(limit: 8))
        #expect(
            split(Array(text.utf8), limit: 8, chunk: size) == [
                line(1, "abc"), line(2, "abcdefgh"), InputLine(number: 3, content: tooLong), line(4, "abcdefgh"),
                InputLine(number: 5, content: tooLong), line(6, "end"), InputLine(number: 7, content: tooLong),
            ])
    }

    @Test("A NUL byte makes its line invalid and no other")
    func nul() {
        #expect(
            split(Array("a\nb\0c\nd".utf8), chunk: 3) == [line(1, "a"), InputLine(number: 2, content: .invalid(.nul)), line(3, "d")])
    }

    @Test("Bytes that are no UTF-8 pass through")
    func bytes() {
        #expect(split([0xFF, 0xFE, 0x0A], chunk: 1) == [InputLine(number: 1, content: .text([0xFF, 0xFE]))])
    }

    @Test("A file is read to its end, in batches")
    func file() async throws {
        let path = "/tmp/gt-lines-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let count = 50_000
        try (1...count).map { "http://host/\($0)" }.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let lines = try URLLines(.file(path))
        var (seen, batches) = (0, 0)
        while let batch = try await lines.nextBatch() {
            batches += 1
            for one in batch {
                seen += 1
                #expect(one == line(seen, "http://host/\(seen)"))
            }
        }
        #expect(seen == count)
        #expect(batches > 1)
        #expect(try await lines.nextBatch() == nil)
    }

    @Test("A file that is not there, or is a folder, is no usable input, before anything is read")
    func unusable() throws {
        #expect {
            try URLLines(.file("/nonexistent/list"))
        } throws: {
            ($0 as? CommandFailure)?.status == .noUsableInput && "\($0)".contains("No such file or directory")
        }
        #expect(throws: CommandFailure(.noUsableInput, "Cannot read the input file '/tmp': Is a directory.")) {
            try URLLines(.file("/tmp"))
        }
    }

    @Test("A pipe gives its lines as they come, and cancelling ends the wait for more")
    func pipes() async throws {
        let pipe = Pipe()
        let lines = try URLLines(descriptor: pipe.fileHandleForReading.fileDescriptor, owned: false, name: "a pipe")
        try pipe.fileHandleForWriting.write(contentsOf: Data("one\ntwo".utf8))
        #expect(try await lines.nextBatch() == [line(1, "one")])
        let waiting = Task { try await lines.nextBatch() }
        waiting.cancel()
        #expect(try await waiting.value == nil)
        withExtendedLifetime(pipe) {}
    }
}
