internal import ClusterState
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
                let wanted = try await FileThread.run { () throws(OutputFailure) in try self.look(part) }
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
            let known = try folder.journal[id].flatMap { (entry) throws(OutputFailure) in
                entry.offset > 0 ? try reader.record(at: entry.offset) : nil
            }
            guard let page else {
                try noteForgotten(id, known, check)
                continue
            }
            let duration = Duration.milliseconds(page.ended - page.began)
            guard !page.isNegative, let digest = page.content.digest else {
                let record = JobRecord(exported: id, JobEnd(.failed, page.content, duration: duration))
                try note(record == known ? .same : .new, record)
                tell(record)
                continue
            }
            let body = WantedBody(id: id, content: page.content, digest: digest, duration: duration)
            if try !noteThere(body, known, check) { wanted.append(body) }
        }
        return wanted
    }

    /// Whether a body is in the folder: where the record has it, under whatever name, or where it would be put.
    private func noteThere(_ body: WantedBody, _ known: JobRecord?, _ check: FileCheck) throws(OutputFailure) -> Bool {
        let file: String
        if let known, !known.isFailed, known.digest == body.digest, check.isSound(known) {
            file = known.file
        } else {
            file = folder.folder.name(of: body.content.url, id: body.id)
            guard check.isSound(file, size: body.content.size, digest: body.digest) else { return false }
        }
        let record = body.record(file: file)
        try note(record == known ? .same : .there, record)
        report(.cached(url: body.displayURL, file: file))
        return true
    }

    /// Of a URL without a page the folder may know more than Redis does.
    private func noteForgotten(_ id: URLID, _ known: JobRecord?, _ check: FileCheck) throws(OutputFailure) {
        if let known, !known.isFailed, check.isSound(known) {
            try note(.same, known)
            report(.cached(url: known.url, file: known.file))
            return
        }
        var record = ExportLoss.forgotten.record(id, url: known?.url ?? "")
        if let known, known.isFailed, known.errorClass != ExportLoss.evicted.rawValue { record = known }
        try note(record == known ? .same : .new, record)
        tell(record)
    }

    private func bring(_ part: [WantedBody]) async throws(OutputFailure) {
        let left = try await FileThread.run { () throws(OutputFailure) in
            var left: [WantedBody] = []
            for body in part {
                if let file = try self.source.copy(body, to: self.folder.folder) { try self.place(file, body) } else { left.append(body) }
            }
            return left
        }
        if left.isEmpty { return }
        try await source.withRoom(for: left.reduce(0) { max($0, $1.content.size) }) { () throws(OutputFailure) in
            let bodies = try await source.bytes(of: left)
            try await FileThread.run { () throws(OutputFailure) in
                for (body, bytes) in zip(left, bodies) {
                    if let bytes { try self.write(bytes, body) } else { try self.noteMissing(body) }
                }
            }
        }
    }

    /// Writes a body to its place, and notes that it is there. Blocks.
    func write(_ bytes: [UInt8], _ body: WantedBody) throws(OutputFailure) {
        let written = bytes.withUnsafeBytes { bytes in
            Result { () throws(OutputFailure) in
                try OutputFailure.wrapping { () throws(StorageFailure) in
                    let file = try BodyFile(in: folder.folder.path)
                    try file.write(bytes)
                    return try file.keep()
                }
            }
        }
        try place(written.get(), body)
    }

    private func place(_ file: String, _ body: WantedBody) throws(OutputFailure) {
        let name = try folder.folder.place(file, of: body.content.url, id: body.id)
        try note(.new, body.record(file: name))
        report(.fetched(url: body.displayURL, bytes: body.content.size, file: name))
    }

    private func noteMissing(_ body: WantedBody) throws(OutputFailure) {
        let record = ExportLoss.evicted.record(body.id, url: body.content.url, status: body.content.status)
        try note(.missing, record)
        if refetches { return }
        if body.content.fields[.file] != nil { noteInFolder() }
        tell(record)
    }
}
