internal import GannetBase
internal import GannetHTTP
package import GannetQueue

/// Fetching lost bodies again.
extension BatchExport {
    /// How a lost body was fetched again.
    package struct Refetch: Sendable {
        /// The status, the content type, and, without a body, the error.
        package let content: OutcomeContent
        /// `nil` if the fetch failed.
        package let body: [UInt8]?
        package let duration: Duration
        /// The failure of an earlier fetch, for which no request was made.
        package let remembered: RememberedFailure?

        package init(_ content: OutcomeContent, body: [UInt8]?, duration: Duration, remembered: RememberedFailure? = nil) {
            self.content = content
            self.body = body
            self.duration = duration
            self.remembered = remembered
        }
    }

    /// Fetches every lost body.
    /// - Parameter fetch: Fetches one URL. An error ends the export: the fetch of any other URL would fail as well.
    package func refetch(concurrency: Int, by fetch: @escaping @Sendable (String) async throws -> Refetch) async throws {
        try await batch.forEach(1, width: concurrency, where: folder.wantsAgain) { ended in
            let outcomes = try await self.batch.outcomes(ended)
            for (id, outcome) in zip(ended.ids, outcomes) {
                let found = try await OwnedThread.run(name: "gannet-folder") { try self.folder.journal.record(of: id) }
                guard let known = found else { continue }
                try await self.source.gate.withRoom(for: known.bytes) {
                    // The record holds the URL without its password.
                    try await self.note(try await fetch(outcome?.content.url ?? known.url), of: known)
                }
            }
        }
        try folder.rethrow()
    }

    private func note(_ fetched: Refetch, of known: JobRecord) async throws {
        try await OwnedThread.run(name: "gannet-folder") {
            var content = fetched.content
            guard let body = fetched.body else {
                var record = JobRecord(exported: known.id, .failed, content, duration: fetched.duration)
                (record.digest, record.bytes) = (known.digest, known.bytes)
                return try self.noteFailed(record, known: known, remembered: fetched.remembered)
            }
            let digest = SHA256Digest(of: body).bytes
            content.size = body.count
            content.digest = digest
            try self.write(body, WantedBody(id: known.id, content: content, digest: digest, duration: fetched.duration))
        }
    }
}
