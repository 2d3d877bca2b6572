import GannetTestKit

/// Another process that uses a cache folder.
struct DiskWriterProcess: Sendable {
    let process: ChildProcess

    /// Starts it; returns when it has said the word.
    init(_ arguments: [String], until word: String) async throws {
        process = try ChildProcess(.init(Program.built("TestHelper"), ["disk"] + arguments))
        guard try await process.output.line(where: { $0.hasPrefix(word) }) != nil else {
            throw KitError("the writer ended with \(try await process.exitStatus): \(process.errors.text)")
        }
    }

    /// Ends it as kill -9 does; returns when it is gone.
    func kill9() async throws {
        process.kill()
        _ = try await process.exitStatus
    }

    /// Returns when it has ended well.
    func finish() async throws {
        let status = try await process.exitStatus
        guard status == .exited(0) else { throw KitError("the writer ended with \(status): \(process.errors.text)") }
    }
}
