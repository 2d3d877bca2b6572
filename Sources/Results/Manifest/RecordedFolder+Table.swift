internal import GannetBase
internal import GannetHTTP

extension RecordedFolder {
    private static let tableName = "manifest.parquet"

    /// Replaces `manifest.parquet`, once it is whole. The file of a killed writer is swept like a half-written body.
    /// - Parameter write: Gets the path of the manifest, and a descriptor of an empty file.
    package func replaceTable(by write: (String, Int32) async throws -> Void) async throws {
        let file = try BodyFile(in: folder.path, .ordinary)
        let output = openFile(file.path, O_WRONLY | O_CLOEXEC)
        guard output >= 0 else { throw StorageFailure.refused("file", file.path, "written") }
        defer { close(output) }
        try await write(manifestPath, output)
        try folder.publish(file.keep(), as: "\(folder.path)/\(Self.tableName)")
    }
}

// Inside the type its own function hides that of C.
private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
