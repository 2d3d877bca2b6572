import Foundation
import GannetTestKit
import Testing

extension Fleet {
    /// How many rows a producer sends at once.
    static let chunk = 8192

    /// A command that has had the first ``chunk`` rows of its input accepted and waits for more, from a pipe. The next row is not complete.
    func startFeeding(_ words: [String]) async throws -> (child: ChildProcess, input: FileHandle) {
        let path = folder.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        // For reading too: an end that only writes would wait for the other, which is yet to be opened.
        let input = FileHandle(fileDescriptor: open(path, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        let watch = try await watch()
        let child = try start(words + connection, input: path)
        let lines = (0...Self.chunk).map { "http://h/\($0)" }.joined(separator: "\n")
        try input.write(contentsOf: Data(lines.utf8))
        try await watch.saw("\"RPUSH\"", ":ready:normal\"")
        return (child, input)
    }
}
