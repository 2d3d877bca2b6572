internal import GannetBase
package import GannetHTTP
package import GannetQueue
package import Lists

/// An output whose bodies go into shards soon after their jobs have ended, in the order of these ends.
///
/// A thread packs, because copying blocks. It may fall behind, for example while a disk flushes a shard. A body for which the queue has no room stays
/// a file. The manifest packs such files, and those that are left at the end.
package final class PackedBodies: Sendable {
    private struct State {
        var ended = Fifo<(id: URLID, row: Row)>()
        var bytes = 0
        var isClosed = false
        var failure: (any Error)?
    }

    package let output: any JobOutput
    private let packing: BodyPacking
    private let state = Condition(State())
    /// Keeps the rows of the run's queued URLs.
    package let rows = WaitingRows()

    private let mostBytes: Int

    /// - Parameter mostBytes: The memory of the queue, which has room for 80,000 rows with 100 bytes of text.
    package init(_ output: any JobOutput, _ packing: BodyPacking, mostBytes: Int = 32 << 20) {
        self.output = output
        self.packing = packing
        self.mostBytes = mostBytes
    }

    /// Packs while `body` runs. The body that is being packed at its end is the last one.
    /// - Throws: The error of `body`, or that of the packing. With the latter ``note(_:_:of:)`` has failed too.
    package func whilePacking<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        async let packed = OwnedThread.result(name: "gannet-packing") { self.work() }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        state.withLock { $0.isClosed = true }
        state.wakeAll()
        _ = await packed
        let value = try result.get()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return value
    }

    private func work() {
        while let (id, row) = next() {
            do {
                try packing.pack(id, row)
            } catch {
                return state.withLock { $0.failure = error }
            }
        }
    }

    private func next() -> (id: URLID, row: Row)? {
        state.wait { state in
            if state.isClosed { return .some(nil) }
            guard let next = state.ended.popFirst() else { return nil }
            state.bytes -= Self.bytes(next.row)
            return .some(next)
        }
    }

    private func add(_ id: URLID, _ row: Row) {
        state.withLock { state in
            let bytes = Self.bytes(row)
            guard state.bytes + bytes <= mostBytes else { return }
            state.ended.append((id, row))
            state.bytes += bytes
        }
        state.wake()
    }

    /// The memory of a row in the queue, with the heads of its texts.
    private static func bytes(_ row: Row) -> Int {
        300 + (row.url?.utf8.count ?? 0) + (row.id?.count ?? 0) + (row.carried?.count ?? 0)
    }
}

extension PackedBodies: OutputAround {
    /// Nothing changes a shard, so no origin is asked whether a body has changed.
    package func earlier(_ job: Job) async throws -> JobRecord? { nil }

    /// The first body of a URL counts, because it may be in a shard. A URL has two attempts where Redis has not heard of the first one in time.
    package func place(_ download: Download, digest: SHA256Digest, of job: Job) async throws -> Placement {
        guard let first = try await output.found(job) else { return try await output.place(download, digest: digest, of: job) }
        download.body.discard()
        return .held(first)
    }

    /// Another end of a URL whose body is there would have the next run fetch it, or the manifest pack it again.
    package func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) async throws {
        guard try await output.found(job) == nil else { return }
        try await output.note(end, wire, of: job)
        if let failure = state.withLock({ $0.failure }) { throw failure }
        if let row = rows.take(job), end.outcome == .fetched { add(job.id, row) }
    }
}

/// The rows of the URLs that a run has queued. Samples have their numbers, ids and carried values. The URL itself comes with the job.
///
/// A row is forgotten when its job ends. Some jobs end without a word to the run, such as those of a host that is given up. So rows are in two parts:
/// when one is full, the older part is dropped. A body without its row stays a file, and is packed with the manifest.
package final class WaitingRows: Sendable {
    private struct Kept {
        let place: Row.Place
        let id: [UInt8]?
        let carried: [UInt8]?

        /// An entry of the table takes 48 bytes, and up to half of the table is free. A text has a head of 32 bytes.
        var bytes: Int { 100 + [id, carried].reduce(0) { $0 + ($1.map { $0.count + 48 } ?? 0) } }
    }

    private struct Part {
        var rows: [URLID: Kept] = [:]
        var bytes = 0

        mutating func take(_ id: URLID) -> Kept? {
            guard let kept = rows.removeValue(forKey: id) else { return nil }
            bytes -= kept.bytes
            return kept
        }
    }

    private struct State {
        var newer = Part()
        var older = Part()
        /// Of all rows so far.
        var count = 0
        var bytes = 0
    }

    private let mostBytes: Int
    private let state = Mutex(State())

    /// - Parameter mostBytes: The memory of one part. A plain list has 670,000 rows in 64 MiB, and one with captions of 100 bytes 270,000.
    package init(mostBytes: Int = 64 << 20) { self.mostBytes = mostBytes }

    /// How many jobs may wait at once, so that one part has room for the rows of all of them.
    package var mostJobs: Int { state.withLock { $0.count == 0 ? .max : mostBytes / ($0.bytes / $0.count) } }

    /// Keeps a row whose job is about to be queued.
    package func keep(_ row: Row, of id: URLID) {
        // Slices would hold whole batches of the list.
        let kept = Kept(place: row.place, id: row.id.map { Array($0) }, carried: row.carried.map { Array($0) })
        state.withLock { state in
            _ = state.newer.take(id)
            if state.newer.bytes + kept.bytes > mostBytes {
                state.older = state.newer
                state.newer = Part()
            }
            state.newer.rows[id] = kept
            state.newer.bytes += kept.bytes
            state.count += 1
            state.bytes += kept.bytes
        }
    }

    /// The row of a job that has ended. It is forgotten here.
    func take(_ job: Job) -> Row? {
        let kept = state.withLock { $0.newer.take(job.id) ?? $0.older.take(job.id) }
        return kept.map { Row($0.place, .url(Array(job.url.utf8)[...]), id: $0.id?[...], carried: $0.carried?[...]) }
    }
}
