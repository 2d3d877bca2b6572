internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// Copying bodies that are kept.
extension BatchExport {
    /// The exchanges of a URL for the folder, until they are in an archive.
    private typealias WantedExchanges = (id: URLID, place: ExchangesPlace)

    private static let slice = 128
    private static let width = 4
    /// The most bytes of bodies in memory at a time.
    private static let mostTaken = 4 << 20
    /// The most bytes of files that are read between two checks for a cancellation.
    private static let mostLookedAt = 64 << 20

    /// Copies every body that is kept and not in the folder yet.
    package func collect() async throws {
        try await batch.forEach(Self.slice, width: Self.width, where: folder.lists) { ended in
            let outcomes = try await self.batch.outcomes(ended)
            for part in Array(zip(ended.jobs, outcomes)).parts(ofBytes: Self.mostLookedAt, size: { $0.1?.content.size ?? 0 }) {
                try FinishedBatch.checkCancellation()
                let (wanted, exchanges) = try await OwnedThread.run(name: "gannet-folder") { (try self.look(part), self.missing(part)) }
                for part in exchanges.parts(ofBytes: Self.mostTaken, size: \.place.size) {
                    try FinishedBatch.checkCancellation()
                    try await self.bring(part)
                }
                for part in wanted.parts(ofBytes: Self.mostTaken, size: \.content.size) {
                    try FinishedBatch.checkCancellation()
                    try await self.bring(part)
                }
            }
        }
        try folder.rethrow()
    }

    /// Records the URLs that need no copy, and returns the bodies to copy. Blocks.
    private func look(_ ended: [(EndedJob, URLOutcome?)]) throws -> [WantedBody] {
        var wanted: [WantedBody] = []
        for (job, outcome) in ended {
            let (id, known) = (job.id, try folder.journal.record(of: job.id))
            if job.isDisallowed, outcome?.isNegative != true {
                try noteDisallowed(id, url: outcome?.content.url ?? known?.url ?? "", known: known)
                continue
            }
            guard let outcome, outcome.isNegative || outcome.content.digest != nil else {
                try noteGone(id, url: outcome?.content.url ?? known?.url ?? "", known)
                continue
            }
            let duration = Duration.milliseconds(outcome.ended - outcome.began)
            guard !outcome.isNegative, let digest = outcome.content.digest else {
                var record = JobRecord(exported: id, .failed, outcome.content, duration: duration)
                // The failure of a repeated fetch is remembered only for a while. The body that there once was stays lost.
                guard let known, known.isLost else {
                    try noteFailed(record, known: known)
                    continue
                }
                (record.digest, record.bytes) = (known.digest, known.bytes)
                try noteLost(record, known: known)
                continue
            }
            let body = WantedBody(
                id: id, content: outcome.content, digest: digest, duration: duration,
                fetched: Date(timeIntervalSince1970: Double(outcome.ended) / 1000))
            if let file = file(of: body, known) {
                try noteThere(body.record(file: file), known: known)
            } else {
                wanted.append(body)
            }
        }
        return wanted
    }

    /// The exchanges that the archives of this export take, and that the folder has not. Blocks.
    private func missing(_ ended: [(EndedJob, URLOutcome?)]) -> [WantedExchanges] {
        guard packing?.takesExchanges == true else { return [] }
        return ended.compactMap { job, outcome in
            guard let outcome, (try? folder.journal.record(of: job.id))?.isPacked != true else { return nil }
            guard let place = outcome.content.exchanges else {
                // An earlier export may have left those of another fetch.
                folder.folder.removeExchanges(of: job.id)
                if batch.batch.options.keeping == .wire, outcome.content.status != 0 || !outcome.isNegative { noteWithoutExchanges() }
                return nil
            }
            return folder.folder.exchanges(of: job.id, at: place) == nil ? (id: job.id, place: place) : nil
        }
    }

    /// Exchanges that are not kept any more are left out: the archive then has the body alone.
    private func bring(_ part: [WantedExchanges]) async throws {
        try await read(part, size: \.place.size) { one in
            for folder in self.workerFolders { if let bytes = folder.exchanges(of: one.id, at: one.place) { return bytes } }
            return try await self.redis.intact(one.place.digest, size: one.place.size)
        } use: { one, bytes in
            if let bytes {
                try self.folder.folder.writeExchanges(bytes, of: one.id)
            } else {
                self.folder.folder.removeExchanges(of: one.id)
                self.noteWithoutExchanges()
            }
        }
    }

    /// Records a URL that the batch's jobs were not permitted. Whether another batch has its body is no matter of this one.
    private func noteDisallowed(_ id: URLID, url: String, known: JobRecord?) throws {
        if let known, known.isFailed, known.errorClass == FailureCounts.disallowed { return try noteFailed(known, known: known) }
        let error = FetchError(kind: .disallowed, url: url, detail: "its robots.txt or the head of its answer says so")
        try noteFailed(JobRecord(exported: id, url: url, error.className, error.description), known: known)
    }

    /// The file of a body that is in the folder: at its recorded place, or at the place it would get.
    private func file(of body: WantedBody, _ known: JobRecord?) -> String? {
        // A packed body is never changed: a folder of shards would have the URL twice.
        if let known, !known.isFailed, known.isPacked || known.digest == body.digest, folder.isSound(known) { return known.file }
        let file = folder.folder.name(of: body.content.url, id: body.id)
        return folder.folder.isSound(file, size: body.content.size, digest: body.digest) ? file : nil
    }

    /// Records a URL for which Redis names no body, from the record of the folder.
    ///
    /// Outcomes expire. An outcome is also dropped when its URL is fetched again because its body was lost, perhaps by an earlier call of
    /// this export. The outcome of an answer that may not be kept has no body.
    private func noteGone(_ id: URLID, url: String, _ known: JobRecord?) throws {
        if let known, !known.isFailed, folder.isSound(known) { return try noteThere(known, known: known) }
        if let known, known.isLost { return try noteLost(known, known: known) }
        if let known, known.isFailed { return try noteFailed(known, known: known) }
        if url.isEmpty { return try noteFailed(ExportLoss.forgotten.record(id, url: ""), known: known) }
        // The outcome is not a failure, so there was a body. Its digest is not known.
        let digest = known?.digest ?? SHA256Digest(of: []).bytes
        try noteLost(ExportLoss.evicted.record(id, url: url, digest: digest, size: known?.bytes ?? 0), known: known)
    }

    private func bring(_ part: [WantedBody]) async throws {
        let left = try await OwnedThread.run(name: "gannet-folder") {
            try part.filter { body in
                for folder in self.workerFolders {
                    guard let file = try folder.copy(body.content, to: self.folder.folder) else { continue }
                    try self.place(file, body)
                    return false
                }
                return true
            }
        }
        if left.isEmpty { return }
        try await read(left, size: \.content.size) { body in
            try await self.redis.intact(body.digest, size: body.content.size)
        } use: { body, bytes in
            if let bytes { try self.write(bytes, body) } else { try self.noteMissing(body) }
        }
    }

    private func noteMissing(_ body: WantedBody) throws {
        let content = body.content
        let wasHere = content.place == .redis || workerFolders.contains { $0.keeps(content.place) }
        let loss = wasHere ? ExportLoss.evicted : .elsewhere
        try noteLost(
            loss.record(body.id, url: content.url, status: content.status, digest: body.digest, size: content.size), known: nil)
    }

    /// Asks for bytes, several at a time, and hands them to `use`, `nil` for those that are not kept any more. `use` may block.
    private func read<Wanted: Sendable>(
        _ wanted: [Wanted], size: (Wanted) -> Int, by ask: @escaping @Sendable (Wanted) async throws -> [UInt8]?,
        use: @escaping @Sendable (Wanted, [UInt8]?) throws -> Void
    ) async throws {
        try await gate.withRoom(for: wanted.reduce(0) { max($0, size($1)) }) {
            let found = try await withThrowingTaskGroup(of: (Int, [UInt8]?).self, returning: [[UInt8]?].self) { group in
                for (index, one) in wanted.enumerated() {
                    group.addTask {
                        (index, try await self.persistently { () async throws -> [UInt8]? in try await ask(one) })
                    }
                }
                return try await group.reduce(into: Array(repeating: nil, count: wanted.count)) { $0[$1.0] = $1.1 }
            }
            try await OwnedThread.run(name: "gannet-folder") { for (one, bytes) in zip(wanted, found) { try use(one, bytes) } }
        }
    }
}

extension Array {
    /// The elements in parts of at most this many bytes. A larger element is a part of its own.
    fileprivate func parts(ofBytes most: Int, size: (Element) -> Int) -> [[Element]] {
        var parts: [[Element]] = []
        var bytes = 0
        for element in self {
            let more = size(element)
            if parts.isEmpty || bytes + more > most {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(element)
            bytes += more
        }
        return parts
    }
}

/// Why the body of a fetched URL is missing: an error class like those of fetches, and a sentence.
enum ExportLoss: String, Sendable {
    /// The store that had the body has it no more.
    case evicted
    /// A worker has put the body into a folder, and none of those that the command was given has its file.
    case elsewhere
    /// Redis has forgotten the URL.
    case forgotten

    /// The record of this failure. It keeps the body's digest and size, so that a later export knows that there was a body.
    func record(_ id: URLID, url: String, status: Int = 0, digest: [UInt8]? = nil, size: Int = 0) -> JobRecord {
        var record = JobRecord(exported: id, url: url, rawValue, sentence(RedactedURL(url).description, id))
        (record.status, record.digest, record.bytes) = (status, digest, size)
        return record
    }

    private func sentence(_ url: String, _ id: URLID) -> String {
        switch self {
        case .evicted: "The body is not kept any more: \(url)"
        case .elsewhere: "A worker has put the body into a folder, and no '--store' has it: \(url)"
        case .forgotten: "Redis has forgotten the URL with the id \(id.short)"
        }
    }
}

extension JobRecord {
    /// A record with its URL, for a folder without a list of URLs.
    init(exported id: URLID, _ outcome: Outcome, _ content: OutcomeContent, duration: Duration = .zero) {
        self.init(id, outcome, content, duration: duration)
        url = RedactedURL.withoutUserInfo(content.url)
    }

    /// The record of a URL without a body, of which no outcome tells.
    init(exported id: URLID, url: String, _ errorClass: String, _ message: String) {
        self.init(exported: id, .failed, OutcomeContent(url: url))
        (self.errorClass, errorMessage) = (errorClass, message)
    }

    /// The URL was fetched, and its body is missing.
    var isLost: Bool { isFailed && digest != nil }
}
