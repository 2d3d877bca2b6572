internal import GannetHTTP
internal import GannetQueue
internal import Results

/// One attempt at a job's URL: asks the output, and then the origin.
struct JobAttempt: Sendable {
    enum Outcome: Sendable {
        case found(HeldBody)
        case fetched(Fetched)
        /// The origin confirmed that the kept answer is still current.
        indirect case confirmed(KeptBody, OutcomeContent, Retention, after: Duration)
        case failed(FetchError, FetchTimes, after: Duration)
        /// The headers that the job was enqueued with are missing. Without them the origin may send another answer.
        case withoutHeaders
        /// A host that a redirect led to has no free place.
        case putOff(host: String, FetchTimes, Duration)
        /// A host that a redirect led to is given up.
        case hopeless(host: String, FetchTimes)
        /// The site does not permit the URL or the target of a redirect, or its rules are not known.
        case barred(Bar, FetchTimes)
        case lostTouch(StateError)
        case stopped(any Error)
    }

    /// A body that was fetched. An object, because it passes through many hands and takes much room.
    final class Fetched: Sendable {
        let download: Download
        let times: FetchTimes

        init(_ download: Download, _ times: FetchTimes) {
            self.download = download
            self.times = times
        }
    }

    /// A kept answer whose body is in its place. Most attempts have none, so it takes no room in them.
    final class KeptBody: Sendable {
        let outcome: OutcomeContent
        let facts: StoredAnswer
        let body: HeldBody
        /// Whether it is that of an outcome in Redis, and not an earlier run's.
        let isShared: Bool

        init(outcome: OutcomeContent, facts: StoredAnswer, body: HeldBody, isShared: Bool) {
            self.outcome = outcome
            self.facts = facts
            self.body = body
            self.isShared = isShared
        }
    }

    let job: Job
    /// When the job was handed out, in queue time.
    let claimed: Int
    let runner: JobRunner
    let moves: HostMoves
    /// Gets the exchanges, for an output that stores them.
    let wire: WireRecord?

    func transferred() async -> LocalFetches.Transferred { LocalFetches.Transferred(await run(), moves, wire) }

    private func run() async -> Outcome {
        var kept: KeptBody?
        do {
            if let body = try await runner.output.found(job) { return .found(body) }
            if job.stale != nil { kept = try await keptBody() }
            if kept == nil { kept = try await earlierBody() }
        } catch {
            return .stopped(error)
        }
        guard let headers = job.headerFields else { return .withoutHeaders }
        if let bar = await barred() { return bar }
        return await ask(with: headers, after: kept)
    }

    /// Why no request may be made at all.
    private func barred() async -> Outcome? {
        guard job.manners.obeys || runner.paces.adapts, let url = try? CanonicalURL(job.url) else { return nil }
        let start = Moment.now
        let bar = await Bar(
            to: url, of: job.manners.obeys ? runner.sites : nil, runner.paces, for: job.url, claimed: claimed,
            asked: { runner.tell(.hostAnswered(job.token)) })
        return bar.map { outcome(of: $0, FetchTimes(start: start, end: .now)) }
    }

    private func outcome(of bar: Bar, _ times: FetchTimes) -> Outcome {
        // The request for the file was one to the host where the job has its place.
        if case .unknown(let error) = bar { return .failed(error, times, after: .zero) }
        if case .lostTouch(let error) = bar, error.isCancellation {
            return .failed(FetchError(kind: .cancelled, url: job.url), times, after: .zero)
        }
        return .barred(bar, times)
    }

    private func keptBody() async throws -> KeptBody? {
        // The whole answer says once more whether its body may be used. Its confirmation need not.
        if job.manners.optOuts == .heed, job.stale?.content.fields[.optOut] != nil { return nil }
        guard let outcome = job.stale, let facts = runner.freshness.kept(outcome),
            let body = try await heldInTime(outcome)
        else { return nil }
        return KeptBody(outcome: outcome.content, facts: facts, body: body, isShared: true)
    }

    private func earlierBody() async throws -> KeptBody? {
        guard let earlier = try await runner.output.earlier(job) else { return nil }
        return known(earlier)
    }

    @inline(never) private func known(_ earlier: EarlierBody) -> KeptBody? {
        if job.manners.optOuts == .heed, earlier.content.fields[.optOut] != nil { return nil }
        return runner.freshness.kept(earlier, for: job).map {
            KeptBody(outcome: earlier.content, facts: $0, body: earlier.body, isShared: false)
        }
    }

    /// A part of the store that is away has no body for now. The job has its host's place already, and must not keep it for that.
    private func heldInTime(_ outcome: URLOutcome) async throws -> HeldBody? {
        try await withThrowingTaskGroup(of: HeldBody?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await runner.output.held(outcome, for: job) }
            group.addTask {
                try? await Task.sleep(for: Self.longestLook)
                return nil
            }
            return try await group.next() ?? nil
        }
    }

    private static let longestLook = Duration.seconds(1)

    /// Asks the origin for the body or, with a kept answer, whether that is still current.
    private func ask(with headers: [HeaderField], after known: KeptBody?) async -> Outcome {
        var kept = known
        while true {
            let (start, clock) = (Moment.now, ContinuousClock.now)
            runner.activity.began(job.token, host: job.host)
            do throws(FetchError) {
                let download = try await runner.downloader.download(request(with: headers, after: kept), through: moves)
                runner.activity.ended(job.token, nil, after: ContinuousClock.now - clock)
                runner.paces.answered(job.host, after: download.duration)
                if let end = answered(download, kept, FetchTimes(start: start, end: .now)) { return end }
                // The 304 does not fit the kept answer. The next request has no conditions, so that the origin sends the body.
                kept = nil
            } catch {
                runner.activity.ended(job.token, error, after: ContinuousClock.now - clock)
                if error.retry.timesTheHost { runner.paces.answered(job.host, after: ContinuousClock.now - clock) }
                return failed(error, FetchTimes(start: start, end: .now), after: ContinuousClock.now - clock)
            }
        }
    }

    @inline(never) private func request(with headers: [HeaderField], after kept: KeptBody?) -> DownloadRequest {
        let conditions = kept?.facts.conditions ?? []
        let trace = runner.sendsTrace ? job.traceFields(besides: headers, id: .random(in: 1 ... .max)) : []
        var request = DownloadRequest(url: job.url, body: runner.output.bodyDestination, headers: headers + conditions + trace)
        wire?.clear()
        request.wire = wire
        if job.manners.optOuts == .heed { request.refusal = { [agent = runner.sites.agent] in $0.optOut(for: agent) } }
        return request
    }

    /// Nil when the answer is a 304 that does not fit.
    @inline(never) private func answered(_ download: Download, _ asked: KeptBody?, _ times: FetchTimes) -> Outcome? {
        guard let asked, download.status == 304 else { return .fetched(Fetched(download, times)) }
        download.body.discard()
        let confirmed = runner.freshness.confirmed(
            asked.facts, outcome: asked.outcome, isShared: asked.isShared, by: download, for: job, at: times)
        return confirmed.map { .confirmed(asked, $0, $1, after: download.duration) }
    }

    @inline(never) private func failed(_ error: FetchError, _ times: FetchTimes, after duration: Duration) -> Outcome {
        switch moves.end {
        case .putOff(let host, let pause)?: .putOff(host: host, times, pause)
        case .hopeless(let host)?: .hopeless(host: host, times)
        case .failed(let error)?: .lostTouch(error)
        case .barred(let bar)?: outcome(of: bar, times)
        case nil: .failed(error, times, after: duration)
        }
    }
}
