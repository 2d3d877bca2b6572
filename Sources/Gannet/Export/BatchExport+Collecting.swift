internal import ClusterState
internal import GannetBasics
internal import HTTPEngine

/// Taking what is kept.
extension BatchExport {
    private static let slice = 128
    private static let width = 4
    /// In bytes: what is in memory at a time, and what is read before anybody may interrupt.
    private static let mostTaken = 4 << 20
    private static let mostLookedAt = 64 << 20

    /// Takes every body that is kept and not in the folder yet.
    package func collect() async throws(OutputFailure) {
        try await walk.forEach(Self.slice, width: Self.width, where: folder.lists) { (ids) throws(OutputFailure) in
            let pages = try await self.walk.pages(ids)
            for part in Array(zip(ids, pages)).parts(ofBytes: Self.mostLookedAt, size: { $0.1?.content.size ?? 0 }) {
                try FinishedWalk.checkCancellation()
                let wanted = try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in try self.look(part) }
                for part in wanted.parts(ofBytes: Self.mostTaken, size: \.content.size) {
                    try FinishedWalk.checkCancellation()
                    try await self.bring(part)
                }
            }
        }
        try folder.rethrow()
    }

    /// Notes what needs no body; returns those that are to be brought. Blocks.
    private func look(_ ended: [(URLID, Page?)]) throws(OutputFailure) -> [WantedBody] {
        let check = FileCheck(in: folder.folder.path)
        var reader = folder.journal.reader()
        var wanted: [WantedBody] = []
        for (id, page) in ended {
            let known = try folder.record(of: id, &reader)
            guard let page, page.isNegative || page.content.digest != nil else {
                try noteGone(id, url: page?.content.url ?? known?.url ?? "", known, check)
                continue
            }
            let duration = Duration.milliseconds(page.ended - page.began)
            guard !page.isNegative, let digest = page.content.digest else {
                var record = JobRecord(exported: id, JobEnd(.failed, page.content, duration: duration))
                // Of what was tried again in vain the failure stands for a moment; that there was a body does not change.
                guard let known, known.isLost else {
                    try noteFailed(record, known: known)
                    continue
                }
                (record.digest, record.bytes) = (known.digest, known.bytes)
                try noteLost(record, known: known)
                continue
            }
            let body = WantedBody(id: id, content: page.content, digest: digest, duration: duration)
            if let file = file(of: body, known, check) {
                try noteThere(body.record(file: file), known: known)
            } else {
                wanted.append(body)
            }
        }
        return wanted
    }

    /// Where in the folder a body is: where the record has it, under whatever name, or where it would be put.
    private func file(of body: WantedBody, _ known: JobRecord?, _ check: FileCheck) -> String? {
        if let known, !known.isFailed, known.digest == body.digest, check.isSound(known) { return known.file }
        let file = folder.folder.name(of: body.content.url, id: body.id)
        return check.isSound(file, size: body.content.size, digest: body.digest) ? file : nil
    }

    /// Of a URL without a page the folder may know more than Redis does. A page goes in time, and when somebody begins to fetch its URL again
    /// because there is no body to it, which this export's own predecessor may have been; one for an answer that may not be kept has no body.
    private func noteGone(_ id: URLID, url: String, _ known: JobRecord?, _ check: FileCheck) throws(OutputFailure) {
        if let known, !known.isFailed, check.isSound(known) { return try noteThere(known, known: known) }
        if let known, known.isLost { return try noteLost(known, known: known) }
        if let known, known.isFailed { return try noteFailed(known, known: known) }
        if url.isEmpty { return try noteFailed(ExportLoss.forgotten.record(id, url: ""), known: known) }
        // That there was a body is known of a URL whose page is no failure, if not which.
        let digest = known?.digest ?? SHA256Digest(of: []).bytes
        try noteLost(ExportLoss.evicted.record(id, url: url, digest: digest, size: known?.bytes ?? 0), known: known)
    }

    private func bring(_ part: [WantedBody]) async throws(OutputFailure) {
        let left = try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in
            var left: [WantedBody] = []
            for body in part {
                if let file = try self.source.copy(body, to: self.folder.folder) { try self.place(file, body) } else { left.append(body) }
            }
            return left
        }
        if left.isEmpty { return }
        try await source.withRoom(for: left.reduce(0) { max($0, $1.content.size) }) { () throws(OutputFailure) in
            let bodies = try await source.bytes(of: left)
            try await OwnedThread.run(name: "gannet-folder") { () throws(OutputFailure) in
                for (body, bytes) in zip(left, bodies) {
                    if let bytes { try self.write(bytes, body) } else { try self.noteMissing(body) }
                }
            }
        }
    }

    private func noteMissing(_ body: WantedBody) throws(OutputFailure) {
        let loss = source.hasFolder || body.content.fields[.file] == nil ? ExportLoss.evicted : .elsewhere
        let content = body.content
        try noteLost(
            loss.record(body.id, url: content.url, status: content.status, digest: body.digest, size: content.size), known: nil)
    }
}
