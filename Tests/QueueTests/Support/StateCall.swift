@testable import GannetQueue

/// Every call that changes the state, made on a `Situation`. Made again, it is the same call again.
enum StateCall: String, CaseIterable, Sendable {
    case begin, enqueue, enqueueDelayed, enqueueClosing, cancel, claim, claimNothing, renew, nameHoldings
    case settleFetched, settleFetchedAlone, settleRevalidated, settleNotStored, settleFailed, settleRetry, settleThrottled,
        settleUnreachable, settlePutOff, settleBack
    case settleDelivered, settleMissing, move
    case acquire, acquireBusy, acquireOwn, commit, commitFailure, release, pause, resume, reclaim, clear, beat, leave, overview
    case deleteReady, deleteParked, deleteDelayed, hasten

    func make(_ fixture: QueueFixture, _ situation: Situation) async throws {
        try await StateError.mapping { try await perform(fixture, situation) }
    }

    private func perform(_ fixture: QueueFixture, _ situation: Situation) async throws {
        let (queue, cluster) = (fixture.queue, fixture.cluster)
        func exchange(_ request: ExchangeRequest) async throws { _ = try await queue.exchange(request, in: cluster.home) }
        func settle(_ number: Int, _ outcome: Settlement.Outcome, _ host: Settlement.HostNews = .answered) async throws {
            let job = situation.jobs[number]!
            var request = Situation.request(of: job.token.incarnation.number, 0, number: Situation.nextExchange)
            request.settlements = [Settlement(job.token, job.id, outcome, host: host, isDelivery: job.outcome != nil)]
            try await exchange(request)
        }
        func enqueue(closing: Bool, delay: Duration = .zero) async throws {
            var progress = situation.open
            let rows = try (20..<23).map { (entry: try QueueFixture.entry($0, hosts: 3), row: $0 - 19) }
            _ = try await queue.enqueue(rows, to: 30, of: &progress, closing: closing, delay: delay)
        }
        func acquire(_ id: URLID, nonce: UInt64, of process: Incarnation) async throws {
            var request = Situation.acquire(id, nonce: nonce, of: process)
            request.inbox = "caller"
            _ = try await cluster.acquire(request)
        }
        func settleCaller(_ outcome: Settlement.Outcome) async throws {
            var request = Situation.request(of: Situation.callersProcess.number, 0, number: Situation.nextExchange)
            request.settlements = [Settlement(situation.caller, Situation.callersURL, outcome)]
            _ = try await cluster.exchange(request, in: cluster.home)
        }
        switch self {
        case .begin: _ = try await queue.begin(batch: "new", from: "a file")
        case .enqueue: try await enqueue(closing: false)
        case .enqueueDelayed: try await enqueue(closing: false, delay: .seconds(10))
        case .enqueueClosing: try await enqueue(closing: true)
        case .cancel: _ = try await queue.cancel(batch: situation.batch + 2)
        case .claim, .claimNothing: try await exchange(Situation.request(of: 30, self == .claim ? 30 : 0))
        case .renew: try await exchange(Situation.request(of: 3, 0, number: Situation.nextExchange))
        case .nameHoldings:
            var request = Situation.request(of: 3, 0, number: Situation.nextExchange)
            request.held = [.lock(QueueFixture.id(0)), .lock(QueueFixture.id(2))]
            try await exchange(request)
        case .settleFetched: try await settle(0, QueueFixture.fetched("http://h0/0"))
        case .settleFetchedAlone: try await settle(1, QueueFixture.fetched("http://h1/1"))
        case .settleRevalidated:
            try await settle(2, .revalidated(OutcomeContent(url: "u"), Retention(fresh: .seconds(9), keep: .seconds(9))))
        case .settleNotStored: try await settle(0, QueueFixture.fetched("http://h0/0", isStored: false))
        case .settleFailed: try await settle(0, QueueFixture.failed("http://h0/0"))
        case .settleRetry: try await settle(0, QueueFixture.retried("http://h0/0", after: .seconds(5)))
        case .settleThrottled: try await settle(0, QueueFixture.throttled("http://h0/0", for: nil))
        case .settleUnreachable: try await settle(1, QueueFixture.retried("http://h1/1", after: .seconds(5)), .silent)
        case .settlePutOff: try await settle(2, .putOff(OutcomeContent(url: "http://h2/2"), for: .seconds(5)), .none)
        case .settleBack: try await settle(0, .handedBack)
        case .settleDelivered: try await settle(4, .delivered)
        case .settleMissing: try await settle(4, .bodyMissing(digest: [UInt8](repeating: 7, count: 32)))
        case .move:
            _ = try await queue.move(situation.jobs[1]!, to: "elsewhere", usual: HostRule(limit: 2, first: 1000), lease: QueueFixture.lease)
        case .acquire: try await acquire(QueueFixture.id(55), nonce: 1, of: Incarnation(55))
        case .acquireBusy: try await acquire(Situation.callersURL, nonce: 1, of: Incarnation(55))
        case .acquireOwn: try await acquire(Situation.callersURL, nonce: Situation.callersNonce, of: Situation.callersProcess)
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
        case .deleteReady: _ = try await queue.delete(JobSelection(.ready))
        case .deleteParked: _ = try await queue.delete(JobSelection(.parked))
        case .deleteDelayed: _ = try await queue.delete(JobSelection(.delayed))
        case .hasten: _ = try await queue.retry(JobSelection(.delayed))
        }
    }
}
