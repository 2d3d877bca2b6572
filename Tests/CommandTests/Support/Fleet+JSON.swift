import Foundation
import GannetTestKit
import Testing

extension Fleet {
    /// The one line of JSON that a command prints.
    func json(_ words: [String], status: Int32 = 0, _ location: SourceLocation = #_sourceLocation) async throws -> [String: Any] {
        let outcome = try await self.outcome(words + ["--json"] + connection)
        #expect(outcome.status == status, "\(outcome.errors)", sourceLocation: location)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 1, "\(outcome.output)", sourceLocation: location)
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        return try #require(object as? [String: Any], sourceLocation: location)
    }

    /// Text that a command prints on standard output.
    func text(_ words: [String], status: Int32 = 0, _ location: SourceLocation = #_sourceLocation) async throws -> String {
        let outcome = try await self.outcome(words + connection)
        #expect(outcome.status == status, "\(outcome.errors)", sourceLocation: location)
        return outcome.output
    }

    /// Writes a list of URLs at a server that nobody runs.
    func list(_ name: String, _ numbers: some Sequence<Int>, host: String = "h") throws -> String {
        try folder.write(Array(numbers.map { "http://\(host)/\($0)" }.joined(separator: "\n").utf8), to: name)
        return folder.file(name)
    }
}
