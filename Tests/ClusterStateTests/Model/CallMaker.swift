@testable import ClusterState

/// Turns operations into calls, by choosing among the workers, jobs and URLs that there are.
struct CallMaker {
    /// A token that a worker or a caller was given.
    struct Holding {
        let token: LockToken
        let url: Int
        let kind: FlightLook.Kind
        let digest: Int
        let holder: String
        /// The holder died. The token may still be used, much too late.
        var isLost = false
    }

    let cluster: ClusterState
    let climate: ModelClimate
    private var holdings: [Holding] = []
    private var requests = [AcquireCall?](repeating: nil, count: Self.callers)
    private var last: Call?
    private var serials = 0
    private var batches = 0

    static let workers = 3
    static let callers = 3

    init(cluster: ClusterState, climate: ModelClimate) {
        self.cluster = cluster
        self.climate = climate
    }

    private var mostHoldings: Int { climate.mostSettled * 15 }

    mutating func hold(_ holding: Holding) {
        holdings.append(holding)
        if holdings.count > mostHoldings { holdings.removeFirst() }
    }

    /// The answer to a caller decides the caller's next request.
    mutating func answered(_ call: AcquireCall, _ answer: AcquireAnswer) {
        switch answer.fate {
        case .fresh, .negative: requests[call.caller] = nil
        case .leased, .busy:
            var request = call.request
            request.since = request.since ?? answer.now
            requests[call.caller] = AcquireCall(caller: call.caller, url: call.url, request: request)
        }
    }

    /// The calls that an operation turns into.
    mutating func calls(for operation: Operation, _ look: StateLook, _ model: Model) -> [Call] {
        var draw = Draw(operation.seed)
        let calls: [Call]
        switch operation.kind {
        case .clock: return [.clock(time(&draw))]
        case .enqueue: calls = enqueue(&draw, look, model)
        case .claim:
            calls = [
                .claim(
                    ClaimCall(
                        queue: draw.below(2), worker: draw.below(Self.workers), limit: draw.one(of: climate.claimLimits),
                        nonce: Nonce(draw.number()), lease: climate.lease, listens: draw.chance(50)))
            ]
        case .settle: calls = settle(&draw, look)
        case .renew:
            let some = holdings.filter { _ in draw.chance(40) }.filter { !$0.isLost || draw.chance(10) }
            calls = some.isEmpty ? [] : [.renew(some.map(\.token))]
        case .move:
            let some = holdings.filter { $0.kind == .job || draw.chance(10) }.filter { !$0.isLost || draw.chance(10) }
            calls = some.isEmpty ? [] : [.move(draw.one(of: some).token, host: draw.below(climate.hosts))]
        case .acquire: calls = [acquire(&draw, look)]
        case .again: return last.map { [$0] } ?? []
        case .death:
            let who = draw.chance(70) ? "worker \(draw.below(Self.workers))" : "caller \(draw.below(Self.callers))"
            for index in holdings.indices where holdings[index].holder == who { holdings[index].isLost = true }
            return [.death(who)]
        case .cancel:
            let open = model.batches.keys.filter { model.batches[$0]!.state != .cancelled }.sorted { $0.number < $1.number }
            calls = open.isEmpty ? [] : [.cancel(draw.one(of: open.suffix(6)))]
        case .pause: calls = [.pause(queue: draw.below(2), true)]
        case .resume: calls = [.pause(queue: draw.below(2), false)]
        case .rule:
            let rule = HostRule(limit: 1 + draw.below(3), interval: .milliseconds(draw.one(of: [0, 0, 500])))
            calls = [.rule(host: draw.below(climate.hosts), draw.chance(60) ? rule : nil)]
        case .reclaim: calls = [.reclaim(queue: draw.below(2))]
        case .beat: calls = [.beat(queue: draw.below(2), worker: draw.below(Self.workers), leaves: draw.chance(20))]
        case .sweep: calls = sweep(&draw, look, model)
        case .crash: return [.crash] + (draw.chance(50) ? last.map { [$0] } ?? [] : [])
        }
        if let call = calls.last { last = call }
        return calls
    }

    private func time(_ draw: inout Draw) -> Int {
        switch draw.below(100) {
        case 0..<55: 1 + draw.below(400)
        case 55..<80: 400 + draw.below(4000)
        case 80..<93: 4000 + draw.below(56_000)
        case 93..<96: draw.below(8 * 3_600_000)
        default: -draw.below(draw.chance(50) ? 2000 : 3_600_000)
        }
    }

    private mutating func enqueue(_ draw: inout Draw, _ look: StateLook, _ model: Model) -> [Call] {
        guard look.jobs.count < climate.mostJobs else { return [] }
        let open = model.batches.filter { $0.value.state == .open }.keys.sorted { $0.number < $1.number }
        guard !open.isEmpty, draw.chance(80) else {
            batches += 1
            var options = BatchOptions()
            options.priority = draw.one(of: [.high, .normal, .normal, .low])
            options.refresh = draw.chance(20)
            options.maximumAge = draw.chance(20) ? .milliseconds(draw.one(of: [0, 1000, 60_000])) : nil
            options.deliversBodies = draw.chance(25)
            if batches.isMultiple(of: 3) { options.headers = ModelBatch.headers(batches) }
            if batches.isMultiple(of: 2) { options.trace = ModelBatch.trace(batches) }
            return [.begin(queue: draw.below(2), name: "batch\(batches)", options)]
        }
        let batch = draw.one(of: open)
        let offset = model.batches[batch]!.offset
        let jobs = (0..<draw.below(climate.largestChunk)).map { _ in
            serials += 1
            return (serial: serials, url: draw.below(climate.urls))
        }
        // Now and then a producer has forgotten how far it was.
        let from = draw.chance(5) ? max(0, offset - 1) : offset
        return [
            .enqueue(
                EnqueueCall(
                    batch: batch, jobs: jobs, from: from, to: from + jobs.count + 1, isClosing: draw.chance(25),
                    delay: draw.chance(20) ? draw.one(of: [1, 300, 5000, 40_000]) : 0))
        ]
    }

    private mutating func acquire(_ draw: inout Draw, _ look: StateLook) -> Call {
        let caller = draw.below(Self.callers)
        if draw.chance(60), let call = requests[caller] { return .acquire(call) }
        let url = draw.below(climate.urls)
        var request = AcquireRequest(id: QueueFixture.id(url), nonce: Nonce(draw.number()), lease: .milliseconds(climate.lease))
        request.inbox = draw.chance(80) ? cluster.inbox(of: "c\(caller)") : nil
        request.refresh = draw.chance(20)
        request.maximumAge = draw.chance(20) ? .milliseconds(draw.one(of: [0, 1000])) : nil
        if draw.chance(10) { request.missingBody = Self.digest(look.pages[url].map(\.digest) ?? 1) }
        return .acquire(AcquireCall(caller: caller, url: url, request: request))
    }

    private func settle(_ draw: inout Draw, _ look: StateLook) -> [Call] {
        let isJobs = draw.chance(85)
        let some = holdings.suffix(climate.mostSettled * 10).filter { ($0.kind != .caller) == isJobs }
        let live = some.filter { !$0.isLost && look.flights[Token($0.token)] != nil && look.flights[Token($0.token)]?.kind != .pausing }
        var items: [SettleCall.Item] = []
        for _ in 0...draw.below(climate.mostSettled) {
            let from = live.isEmpty || draw.chance(12) ? some : live
            guard !from.isEmpty else { break }
            let holding = draw.one(of: from)
            items.append(
                item(holding, outcome(holding, &draw), draw.one(of: [.answered, .answered, .none, .unreachable]), draw.below(1000)))
        }
        guard !items.isEmpty else { return [] }
        return [
            .settle(
                SettleCall(
                    queue: isJobs ? draw.below(2) : nil, items: items, claimsAgain: !isJobs || draw.chance(80),
                    random: Double(draw.below(101)) / 100))
        ]
    }

    private func item(
        _ holding: Holding, _ outcome: Settlement.Outcome, _ host: Settlement.HostNews, _ bytes: Int
    ) -> SettleCall.Item {
        SettleCall.Item(token: holding.token, url: holding.url, outcome: outcome, host: host, bytes: bytes)
    }

    private func outcome(_ holding: Holding, _ draw: inout Draw) -> Settlement.Outcome {
        let pauses = [1, 400, 3000, 60_000].map(Duration.milliseconds)
        if holding.kind == .delivery {
            return draw.one(of: [
                .delivered, .delivered, .delivered, .delivered, .bodyMissing(digest: Self.digest(holding.digest)),
                .bodyMissing(digest: Self.digest(1 + draw.below(3))), .handedBack, .failed(content(&draw), retention(&draw)),
                .retry(after: draw.one(of: pauses)),
            ])
        }
        switch draw.below(20) {
        case 0..<8: return .fetched(content(&draw), retention(&draw))
        case 8..<10: return .revalidated(content(&draw), retention(&draw))
        case 10..<12: return .failed(content(&draw), retention(&draw))
        case 12..<15: return .retry(after: draw.one(of: pauses))
        case 15: return .putOff(for: draw.one(of: pauses))
        case 16..<18: return .throttled(for: draw.chance(50) ? nil : draw.one(of: pauses))
        default: return .handedBack
        }
    }

    private func content(_ draw: inout Draw) -> OutcomeContent {
        var content = OutcomeContent(url: "http://h/")
        content.digest = Self.digest(1 + draw.below(3))
        return content
    }

    private func retention(_ draw: inout Draw) -> Retention {
        let fresh = draw.one(of: [0, 0, 2, 60, 3600])
        return Retention(fresh: .seconds(fresh), keep: .seconds(max(fresh, draw.one(of: [1, 30, 7200]))), isStored: draw.chance(80))
    }

    static func digest(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 32) }

    /// The settlement that ends a job that was handed out.
    func ending(_ token: Token, _ flight: FlightLook) -> SettleCall.Item {
        var content = OutcomeContent(url: "http://h/")
        content.digest = Self.digest(1)
        let outcome: Settlement.Outcome =
            flight.kind == .job ? .fetched(content, Retention(fresh: .seconds(60), keep: .seconds(60))) : .delivered
        return SettleCall.Item(token: token.flightToken, url: flight.url, outcome: outcome, host: .answered, bytes: 1)
    }
}
