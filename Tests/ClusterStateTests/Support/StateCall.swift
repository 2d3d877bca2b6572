@testable import ClusterState

/// Every call that changes the state, made on a `Situation`.
enum StateCall: String, CaseIterable, Sendable {
    case begin, enqueue, enqueueDelayed, enqueueClosing, cancel, claim, claimNothing, renew
    case settleFetched, settleFetchedAlone, settleRevalidated, settleNotStored, settleFailed, settleRetry, settleThrottled,
        settleUnreachable, settleBack
    case settleDelivered, settleMissing
    case acquire, acquireBusy, acquireOwn, commit, commitFailure, release, pause, resume, reclaim, clear, beat, leave, overview
    case deleteReady, deleteHeld, deleteParked, deleteDelayed, hasten

    func make(_ fixture: QueueFixture, _ situation: Situation) async throws {
        try await StateError.mapping { try await perform(fixture, situation) }
    }

    private func perform(_ fixture: QueueFixture, _ situation: Situation) async throws {
        let (queue, cluster) = (fixture.queue, fixture.cluster)
        func settle(_ number: Int, _ outcome: Settlement.Outcome, _ host: Settlement.HostNews = .answered) async throws {
            _ = try await fixture.settle(situation.jobs[number]!, outcome, host: host)
        }
        func enqueue(closing: Bool, delay: Duration = .zero) async throws {
            let entries = try (20..<23).map { try QueueFixture.entry($0, hosts: 3) }
            _ = try await queue.enqueue(entries, batch: situation.open, from: 0, to: 30, closing: closing, delay: delay)
        }
        func acquire(_ id: URLID, nonce: Nonce) async throws {
            var request = AcquireRequest(id: id, nonce: nonce, lease: QueueFixture.lease)
            request.inbox = "caller"
            _ = try await cluster.acquire(request)
        }
        func settleCaller(_ outcome: Settlement.Outcome) async throws {
            _ = try await cluster.settle([Settlement(situation.caller, Situation.callersURL, outcome)], random: 0.5)
        }
        func delete(from list: JobList) async throws {
            _ = try await queue.delete(from: list, before: nil, JobFilter(), enqueuedUntil: 1 << 52, limit: 100)
        }
        switch self {
        case .begin: _ = try await queue.begin(batch: "new", from: "a file")
        case .enqueue: try await enqueue(closing: false)
        case .enqueueDelayed: try await enqueue(closing: false, delay: .seconds(10))
        case .enqueueClosing: try await enqueue(closing: true)
        case .cancel: _ = try await queue.cancel(batch: situation.batch + 2)
        case .claim, .claimNothing:
            _ = try await fixture.claim(self == .claim ? 30 : 0, worker: "claimer") {
                $0.nonce = Nonce(1234)
                $0.inbox = "claimer"
            }
        case .renew: _ = try await cluster.renew(situation.jobs.values.map(\.token), lease: .seconds(60))
        case .settleFetched: try await settle(0, QueueFixture.fetched("http://h0/0"))
        case .settleFetchedAlone: try await settle(1, QueueFixture.fetched("http://h1/1"))
        case .settleRevalidated:
            try await settle(2, .revalidated(OutcomeContent(url: "u"), Retention(fresh: .seconds(9), keep: .seconds(9))))
        case .settleNotStored: try await settle(0, QueueFixture.fetched("http://h0/0", isStored: false))
        case .settleFailed: try await settle(0, QueueFixture.failed("http://h0/0"))
        case .settleRetry: try await settle(0, .retry(after: .seconds(5)))
        case .settleThrottled: try await settle(0, .throttled(for: nil))
        case .settleUnreachable: try await settle(1, .retry(after: .seconds(5)), .unreachable)
        case .settleBack: try await settle(0, .handedBack)
        case .settleDelivered: try await settle(4, .delivered)
        case .settleMissing: try await settle(4, .bodyMissing(digest: [UInt8](repeating: 7, count: 32)))
        case .acquire: try await acquire(QueueFixture.id(55), nonce: Nonce(1))
        case .acquireBusy: try await acquire(QueueFixture.id(0), nonce: Nonce(1))
        case .acquireOwn: try await acquire(Situation.callersURL, nonce: Situation.nonce)
        case .commit: try await settleCaller(QueueFixture.fetched("http://h/99"))
        case .commitFailure: try await settleCaller(QueueFixture.failed("http://h/99"))
        case .release: try await settleCaller(.handedBack)
        case .pause: _ = try await queue.pause()
        case .resume: _ = try await queue.resume()
        case .reclaim: _ = try await queue.reclaimAll()
        case .clear: try await queue.clear()
        case .beat: _ = try await queue.beat("worker 1", .ofTest)
        case .leave: try await queue.leave("worker 1")
        case .overview: _ = try await queue.overview()
        case .deleteReady: try await delete(from: .ready("normal"))
        case .deleteHeld: try await delete(from: .held("normal", "h2"))
        case .deleteParked: try await delete(from: JobList(Array("parked:".utf8) + QueueFixture.id(0).bytes))
        case .deleteDelayed: _ = try await queue.sweepDelayed(from: 0, JobFilter(), .delete, limit: 100)
        case .hasten: _ = try await queue.sweepDelayed(from: 0, JobFilter(), .retry, limit: 100)
        }
    }
}
