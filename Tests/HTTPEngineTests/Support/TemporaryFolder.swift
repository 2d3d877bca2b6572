import Foundation

/// A folder of the test's own, gone with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path) }
    }

    /// Files in the folder that this process has open, deleted ones included.
    var openFiles: [String] {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { $0.hasPrefix(path) }
    }
}

/// Whether there was such a file.
func unlinkFile(_ path: String) -> Bool {
    (try? FileManager.default.removeItem(atPath: path)) != nil
}
