import Foundation

extension MachineNeed {
    /// Whether to run a test that reads or writes Parquet files. `Scripts/setup --tests` installs pyarrow.
    package static let canReadTables = isMet(access("\(TablePython.folder)/python3", X_OK) == 0)
}

/// The Python that has pyarrow.
package enum TablePython {
    /// The folder of its `python3`.
    package static let folder = Repository.url(".build/tables/bin").path

    private static let beginning = """
        import datetime, decimal, json, random, sys
        import pyarrow as pa, pyarrow.parquet as pq

        """

    /// Runs a program that knows pyarrow as `pa` and `pq`, and returns what it prints.
    package static func run(_ program: String, _ arguments: [String] = []) async throws -> String {
        let outcome = try await ChildProcess.run(.init("\(folder)/python3", ["-I", "-c", beginning + program] + arguments))
        guard outcome.status == .exited(0) else { throw KitError("the Python program failed: \(outcome.errors)") }
        return outcome.output
    }

    /// Makes a `python3` in the folder that is a script of the shell. `$REAL` is the real one.
    /// - Returns: The folder, for PATH.
    package static func fake(_ script: String, in folder: TemporaryFolder) async throws -> String {
        _ = try await folder.writeProgram("REAL='\(Self.folder)/python3'\n\(script)", named: "fake-bin/python3")
        return folder.file("fake-bin")
    }
}
