internal import GannetBase
package import GannetHTTP
package import GannetQueue

/// Archives (WARC) in a folder, with the record of what earlier runs fetched into them. Docs/ARCHIVES.md says what the files are.
///
/// A row is in the record after a flush that covers its exchanges. So a row that the record has is in an archive, whatever has failed since.
/// One flush serves many rows: a disk takes as long for one job's bytes as for those of a hundred jobs. A kill between an exchange and its record repeats
/// the URL, and both captures stay.
package final class RecordedArchive: Sendable {
    private let folder: RecordedFolder
    private let writer: WARCWriter
    private let flush: Gathering<Void, Void, any Error>
    /// The files that killed runs had left.
    package let recovered: [RecoveredFile]

    /// The longest body of a request that stays in memory.
    private static let smallBody = 128 << 10

    /// Completes the archives that a killed run has left, and begins a new one with the first exchange.
    /// - Parameters:
    ///   - size: A file ends with the exchange that reaches it, in bytes.
    ///   - information: Further fields of each file's `warcinfo` record.
    package static func open(
        _ folder: RecordedFolder, size: Int, information: [(name: String, value: String)]
    ) async throws -> RecordedArchive {
        try await OwnedThread.run(name: "gannet-archive") { try RecordedArchive(folder, size, information) }
    }

    private init(_ folder: RecordedFolder, _ size: Int, _ information: [(name: String, value: String)]) throws {
        self.folder = folder
        let (writer, recovered) = try WARCWriter.open(folder.folder.path, size: size, information: information)
        (self.writer, self.recovered) = (writer, recovered)
        flush = .flushing { try writer.flush() }
    }

    /// Completes the last archive. Nothing can be stored afterwards.
    package func close() async throws {
        try await OwnedThread.run(name: "gannet-archive") { [writer] in try writer.close() }
    }
}

extension RecordedArchive: OutputAround {
    package var output: any JobOutput { folder }

    package var bodyDestination: BodyDestination { .file(in: folder.folder.path, beyond: Self.smallBody) }

    package func wireRecord(for job: Job) -> WireRecord? { WireRecord(fileIn: folder.folder.path, beyond: Self.smallBody) }

    /// An archive cannot say that its body is current.
    package func earlier(_ job: Job) async throws -> JobRecord? { nil }

    package func place(_ download: Download, digest: SHA256Digest, of job: Job) throws -> Placement {
        guard let wire = download.wire else { preconditionFailure("A body came without its exchanges, for which an archive asks.") }
        // Once, also where the job fails because its last answer is refused here.
        let exchanges = wire.exchanges
        wire.clear()
        defer { download.body.discard() }
        do {
            let body: ArchiveContent =
                switch download.body {
                case .bytes(let bytes): .bytes(bytes)
                case .file(let path, _): .file(path: path, count: Int(download.byteCount))
                }
            guard let place = try writer.write(exchanges, downloaded: (body, digest.bytes)) else {
                throw UnfitForArchive("Its answer has no head.")
            }
            return .held(HeldBody(file: place.text, typeMismatch: BodyKind.falsePicture(download)))
        } catch let unfit as UnfitForArchive {
            let sentence = unfit.sentence
            let detail = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
            return .refused(FetchError(kind: .protocolError, url: job.url, detail: "an archive cannot have it: \(detail)"))
        }
    }

    package func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) async throws {
        guard end.outcome == .fetched || end.isFailed else { return }
        var record = end
        if end.isFailed, let wire {
            do {
                if let place = try writer.write(wire.exchanges, downloaded: nil) { record.file = place.text }
            } catch is UnfitForArchive {
                // The job has failed for a reason of its own, which the record tells.
            }
        }
        // A cancellation does not cut the flush short: it goes on for others anyway.
        if !record.file.isEmpty { try await Task { [flush] in try await flush(()) }.value }
        try folder.append(record)
    }
}
