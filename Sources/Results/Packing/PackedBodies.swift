internal import GannetBase
package import GannetHTTP
package import GannetQueue
internal import Lists

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

    private let output: any JobOutput
    private let packing: BodyPacking
    private let state = Condition(State())
    /// Keeps the rows of the run's queued URLs.
    package let rows: WaitingRows

    private let mostBytes: Int

    /// - Parameter mostBytes: The memory of the queue, which has room for 80,000 rows with 100 bytes of text.
    package init(_ output: any JobOutput, _ packing: BodyPacking, rows: WaitingRows = WaitingRows(), mostBytes: Int = 32 << 20) {
        self.output = output
        self.packing = packing
        self.rows = rows
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

extension PackedBodies: JobOutput {
    package var bodyDestination: BodyDestination { output.bodyDestination }

    package var mostWaiting: Int? { output.mostWaiting }

    package func wireRecord(for job: Job) -> WireRecord? { output.wireRecord(for: job) }

    package func found(_ job: Job) async throws -> HeldBody? { try await output.found(job) }

    package func held(_ outcome: URLOutcome, for job: Job) async throws -> HeldBody? { try await output.held(outcome, for: job) }

    /// The first body of a URL counts, because it may be in a shard. A URL has two attempts where Redis has not heard of the first one in time.
    package func place(_ download: Download, digest: SHA256Digest, of job: Job) async throws -> Placement {
        guard let first = try await output.found(job) else { return try await output.place(download, digest: digest, of: job) }
        download.body.discard()
        return .held(first)
    }

    package func watchRoom(_ tell: @escaping @Sendable (StoreRoom) -> Void) { output.watchRoom(tell) }

    /// Another end of a URL whose body is there would have the next run fetch it, or the manifest pack it again.
    package func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) async throws {
        guard try await output.found(job) == nil else { return }
        try await output.note(end, wire, of: job)
        if let failure = state.withLock({ $0.failure }) { throw failure }
        if let row = rows.take(job), end.outcome == .fetched { add(job.id, row) }
    }
}
