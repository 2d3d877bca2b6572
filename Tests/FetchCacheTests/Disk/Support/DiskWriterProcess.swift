import Foundation
import GannetTestKit

/// The program `DiskWriter`, built beside the tests: another process that uses a cache folder.
struct DiskWriterProcess: Sendable {
    let process: ChildProcess

    /// Starts it; returns when it has said the word.
    init(_ arguments: [String], until word: String) async throws {
        process = try ChildProcess(.init(Self.path, arguments))
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

    private static let path: String = {
        let bundles = CommandLine.arguments + Bundle.allBundles.map(\.bundlePath)
        let folders = bundles.compactMap { bundle in bundle.firstRange(of: ".xctest").map { bundle[..<$0.lowerBound] } }
            .compactMap { path in path.lastIndex(of: "/").map { path[..<$0] } }
        return folders.map { "\($0)/DiskWriter" }.first { FileManager.default.isExecutableFile(atPath: $0) }
            ?? "DiskWriter, which is not beside the tests"
    }()
}
