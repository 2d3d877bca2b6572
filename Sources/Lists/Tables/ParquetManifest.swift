internal import GannetBase

/// Makes a Parquet file of a manifest of JSON lines.
package enum ParquetManifest {
    /// Throws where this machine cannot do that, so that a command says so before its work and not behind it.
    package static func check(_ python: PythonProgram) async throws {
        try await run(.check, from: "/dev/null", to: nil, by: python)
    }

    /// - Parameters:
    ///   - manifest: The path of the manifest.
    ///   - output: An empty file, open for writing. It stays the caller's, and has a part of the table when this throws.
    package static func write(of manifest: String, to output: Int32, by python: PythonProgram) async throws {
        try await run(.manifest, from: manifest, to: output, by: python)
    }

    /// Longer than any manifest takes: a million rows take half a minute.
    private static let patience = Duration.seconds(24 * 3600)

    /// Cancelling the task ends the child.
    private static func run(_ script: TableScript, from path: String, to output: Int32?, by python: PythonProgram) async throws {
        let input = open(path, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw TableFailure.unreadable(Descriptor.message(errno)) }
        defer { close(input) }
        let child = try python.start(script, [], input: input, output: output ?? input)
        try await withTaskCancellationHandler {
            try await OwnedThread.run(name: "gannet-tables") { () throws(TableFailure) in try child.finish(within: patience) }
        } onCancel: {
            child.kill()
        }
    }
}
