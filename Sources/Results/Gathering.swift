internal import GannetBase

/// Makes batches of calls: what comes while one batch is under way gathers, and goes together in the next.
actor Gathering<Item: Sendable, Answer: Sendable, Failure: Error> {
    private let bytes: @Sendable (Item) -> Int
    private let call: @Sendable ([Item]) async throws(Failure) -> [Result<Answer, Failure>]
    private var waiters: [Int: CheckedContinuation<Answer, any Error>] = [:]
    private var gathered: [(number: Int, item: Item)] = []
    private var last = 0
    private var isUnderWay = false
    private var lastEnd: ContinuousClock.Instant?

    private let mostItems = 256
    private let mostBytes = 4 << 20
    /// Fewer items wait for company, if the batch before has just ended.
    private let company = 8
    private let waitForCompany = Duration.milliseconds(2)

    /// - Parameters:
    ///   - bytes: The size of an item in the call.
    ///   - call: Answers each item of a batch, or throws for all of them.
    init(
        bytes: @escaping @Sendable (Item) -> Int,
        call: @escaping @Sendable ([Item]) async throws(Failure) -> [Result<Answer, Failure>]
    ) {
        self.bytes = bytes
        self.call = call
    }

    /// Callers for whom no call has begun.
    var waiting: Int { gathered.count }

    func callAsFunction(_ item: Item) async throws -> Answer {
        last += 1
        let number = last
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                guard !Task.isCancelled else { return waiter.resume(throwing: CancellationError()) }
                waiters[number] = waiter
                gathered.append((number, item))
                guard !isUnderWay else { return }
                isUnderWay = true
                // A task of its own, because it carries the items of other callers too. It ends with the last of them.
                Task(executorPreference: TaskThread.jobs) { await self.send() }
            }
        } onCancel: {
            Task { await cancel(number) }
        }
    }

    private func send() async {
        while !gathered.isEmpty {
            if gathered.count < company, let lastEnd, .now - lastEnd < waitForCompany {
                try? await Task.sleep(until: lastEnd + waitForCompany)
            }
            let batch = next()
            // The callers that waited were cancelled.
            if batch.isEmpty { break }
            let answers: [Result<Answer, Failure>]
            do throws(Failure) { answers = try await call(batch.map(\.item)) } catch { answers = batch.map { _ in .failure(error) } }
            for (one, answer) in zip(batch, answers) {
                waiters.removeValue(forKey: one.number)?.resume(with: answer.mapError { $0 as any Error })
            }
            lastEnd = .now
        }
        isUnderWay = false
    }

    private func next() -> [(number: Int, item: Item)] {
        var sum = 0
        var count = 0
        for one in gathered.prefix(mostItems) {
            sum += bytes(one.item)
            if sum > mostBytes, count > 0 { break }
            count += 1
        }
        defer { gathered.removeFirst(count) }
        return Array(gathered.prefix(count))
    }

    /// A call that is under way is made all the same.
    private func cancel(_ number: Int) {
        gathered.removeAll { $0.number == number }
        waiters.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }
}

extension Gathering<Void, Void, any Error> {
    /// One flush for all callers that have gathered. A caller returns after a flush that began after its call, so that everything that it had written
    /// before is on the disk.
    static func flushing(_ flush: @escaping @Sendable () throws -> Void) -> Gathering {
        Gathering(
            bytes: { _ in 0 },
            call: { waiters in
                try await OwnedThread.run(name: "gannet-archive") { try flush() }
                return waiters.map { _ in .success(()) }
            })
    }
}
