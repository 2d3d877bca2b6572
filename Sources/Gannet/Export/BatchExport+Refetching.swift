internal import ClusterState
internal import FetchCache
internal import GannetBasics
internal import HTTPEngine

/// Fetching what is not kept.
extension BatchExport {
    /// Fetches the bodies that were not kept anywhere, as one caller of the whole cluster.
    /// - Parameter hostLimit: Requests at a time at one host, as far as this caller goes: those of workers are not counted.
    package func refetch(through fetch: ClusterFetch, concurrency: Int, hostLimit: Int) async throws(OutputFailure) {
        let hosts = HostGates(limit: hostLimit)
        try await walk.forEach(1, width: concurrency, where: folder.wantsAgain) { (ids) throws(OutputFailure) in
            let pages = try await self.walk.pages(ids)
            for (id, page) in zip(ids, pages) {
                let found = try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in
                    var reader = self.folder.journal.reader()
                    return try self.folder.record(of: id, &reader)
                }
                // It was noted a moment ago. With a page there is a password, where the URL has one.
                guard let known = found else { continue }
                try await self.source.withRoom(for: known.bytes) { () throws(OutputFailure) in
                    try await self.refetch(known, page?.content.url ?? known.url, through: fetch, hosts)
                }
            }
        }
        try folder.rethrow()
    }

    private func refetch(_ known: JobRecord, _ url: String, through fetch: ClusterFetch, _ hosts: HostGates) async throws(OutputFailure) {
        let timed = await hosts.within((try? CanonicalURL(url).host) ?? "") {
            let clock = ContinuousClock.now
            return (await fetch.answer(url), ContinuousClock.now - clock)
        }
        guard let (outcome, duration) = timed else { return try FinishedWalk.checkCancellation() }
        switch outcome {
        case .success(let answer):
            try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in
                let digest = SHA256Digest(of: answer.body).bytes
                var content = PageContent(url: url)
                content.status = answer.status
                content.size = answer.body.count
                content.digest = digest
                content.fields[.contentType] = answer.headers["Content-Type"]
                try self.write(answer.body, WantedBody(id: known.id, content: content, digest: digest, duration: duration))
            }
        case .failure(let error):
            try FinishedWalk.checkCancellation()
            // What fails here would fail for the next one, too.
            if error.retry == .local { throw OutputFailure(error.description) }
            var content = PageContent(url: url)
            if case .status(let code) = error.kind { content.status = code }
            content.fields = [.errorClass: error.className, .errorMessage: error.description]
            var record = JobRecord(exported: known.id, JobEnd(.failed, content, duration: duration))
            (record.digest, record.bytes) = (known.digest, known.bytes)
            try await OwnedThread.run(name: "gannet-folder") { [record] () throws(OutputFailure) in
                try self.noteFailed(record, known: known)
            }
        }
    }
}
