internal import ClusterState
internal import FetchCache
internal import HTTPEngine

/// Fetching what is not kept.
extension BatchExport {
    /// Fetches the bodies that were not kept anywhere, as one caller of the whole cluster.
    package func refetch(through fetch: ClusterFetch, concurrency: Int) async throws(OutputFailure) {
        try await walk.forEach(1, width: concurrency, where: folder.wantsAgain) { (ids) throws(OutputFailure) in
            let pages = try await self.walk.pages(ids)
            for (id, page) in zip(ids, pages) {
                guard let page else {
                    try await self.conclude(ExportLoss.forgotten.record(id, url: ""))
                    continue
                }
                try await self.source.withRoom(for: page.content.size) { () throws(OutputFailure) in
                    try await self.refetch(id, page.content.url, through: fetch)
                }
            }
        }
        try folder.rethrow()
    }

    private func refetch(_ id: URLID, _ url: String, through fetch: ClusterFetch) async throws(OutputFailure) {
        let clock = ContinuousClock.now
        let outcome = await fetch.answer(url)
        let duration = ContinuousClock.now - clock
        switch outcome {
        case .success(let answer):
            try await FileThread.run { () throws(OutputFailure) in
                let digest = SHA256Digest(of: answer.body).bytes
                var content = PageContent(url: url)
                content.status = answer.status
                content.size = answer.body.count
                content.digest = digest
                content.fields[.contentType] = answer.headers["Content-Type"]
                try self.write(answer.body, WantedBody(id: id, content: content, digest: digest, duration: duration))
            }
        case .failure(let error):
            try FinishedWalk.checkCancellation()
            // What fails here would fail for the next one, too.
            if error.retry == .local { throw OutputFailure(error.description) }
            var content = PageContent(url: url)
            if case .status(let code) = error.kind { content.status = code }
            content.fields = [.errorClass: error.className, .errorMessage: error.description]
            try await conclude(JobRecord(exported: id, JobEnd(.failed, content, duration: duration)))
        }
    }

    private func conclude(_ record: JobRecord) async throws(OutputFailure) {
        try await FileThread.run { () throws(OutputFailure) in try self.note(.new, record) }
        tell(record)
    }
}
