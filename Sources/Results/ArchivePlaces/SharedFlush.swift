internal import GannetBase

/// One flush for all callers that have gathered: a disk takes as long for one job's bytes as for those of a hundred jobs.
///
/// A caller returns after a flush that began after its call. So everything that it had written before is on the disk.
actor SharedFlush {
    private let flush: @Sendable () throws -> Void
    private var waiters: [CheckedContinuation<Void, any Error>] = []
    private var isUnderWay = false

    /// Callers for whom no flush has begun.
    var waiting: Int { waiters.count }

    init(_ flush: @escaping @Sendable () throws -> Void) { self.flush = flush }

    /// Not cut short by a cancellation: the flush goes on for the others anyway.
    func callAsFunction() async throws {
        try await withCheckedThrowingContinuation { waiter in
            waiters.append(waiter)
            guard !isUnderWay else { return }
            isUnderWay = true
            // A task of its own, because it serves other callers too. It ends with the last of them.
            Task { await run() }
        }
    }

    private func run() async {
        while !waiters.isEmpty {
            let served = waiters
            waiters = []
            do {
                try await OwnedThread.run(name: "gannet-archive") { [flush] in try flush() }
                for waiter in served { waiter.resume() }
            } catch {
                for waiter in served { waiter.resume(throwing: error) }
            }
        }
        isUnderWay = false
    }
}
