import Lists
import Results

/// `--manifest-format`: whether there is a table of the manifest too.
enum ManifestOption {
    enum Format: String, CaseIterable {
        case jsonl
        case parquet
    }

    static let format = Flag(
        "manifest-format", .choice("format", of: Format.allCases.map(\.rawValue)), default: Format.jsonl.rawValue,
        "'parquet' also writes manifest.parquet beside manifest.jsonl, with the carried values as columns. It takes 'python3' with the package "
            + "pyarrow.")

    static func format(_ arguments: Arguments) throws -> Format { Format(rawValue: try arguments.require(format)) ?? .jsonl }
}

/// Makes `manifest.parquet`.
struct TableWriter: Sendable {
    private let python: PythonProgram

    /// Nil where no table is wanted. Throws where this machine cannot make one, before any work is done.
    static func prepare(_ format: ManifestOption.Format) async throws -> TableWriter? {
        guard format == .parquet else { return nil }
        let writer = TableWriter(python: try PythonProgram(in: Surroundings.current.environment["PATH"]))
        try await ParquetManifest.check(writer.python)
        return writer
    }

    /// Replaces an earlier `manifest.parquet`.
    func write(in folder: RecordedFolder) async throws {
        try await Manifest.replaceTable(in: folder) { [python] manifest, output in
            try await ParquetManifest.write(of: manifest, to: output, by: python)
        }
    }
}
