import CommandLineKit
import Gannet
import GannetBasics
import URLLists

/// Writes a run's manifest: its input once more, row by row, with what became of each.
struct RunManifest: Sendable {
    let folder: RecordedFolder
    let input: RunInput
    let headers: ExtraHeaders

    private static let batch = 4096

    /// Throws ``CommandFailure`` or ``OutputFailure``.
    func write() async throws -> ManifestTotals {
        let manifest = try Manifest(in: folder, headers: headers)
        try await manifest.add(
            input.urls.enumerated().map { index, url in ManifestRow(.argument(index + 1), .url(Array(url.utf8)[...])) })
        let rows = try input.again()
        while let batch = try await rows?.nextBatch() { try await manifest.add(batch.map(ManifestRow.init)) }
        // A reader that was cancelled looks like an input that has ended; only the task knows.
        try Task.checkCancellation()
        return try await manifest.finish()
    }

    /// Prints the manifest that was written.
    static func print(_ path: String, _ console: Console) throws(CommandFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.cannotWrite, "The file \(Sentence.quoted(path)) cannot be read: \(Descriptor.message(errno)).")
        }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            try console.print(bytes: Array(buffer[..<count]))
        }
    }
}

extension ManifestRow {
    init(_ row: Row) {
        let content: Content =
            switch row.content {
            case .url(let bytes): .url(bytes)
            case .invalid(let problem): .invalid(problem.description)
            }
        self.init(.line(row.number), content, id: row.id)
    }
}
