internal import BodyStores
internal import ClusterState
internal import HTTPCaching
internal import HTTPEngine

/// One attempt at a job's URL: asks the output, and then the origin.
struct JobAttempt: Sendable {
    enum Outcome: Sendable {
        case found(HeldBody)
        case fetched(Download, FetchTimes)
        /// The origin confirmed that the kept answer is still current.
        indirect case confirmed(KeptBody, OutcomeContent, Retention, after: Duration)
        case failed(FetchError, FetchTimes, after: Duration)
        /// The headers that the job was enqueued with are missing. Without them the origin may send another answer.
        case withoutHeaders
        /// A host that a redirect led to has no free place.
        case putOff(host: String, FetchTimes, Duration)
        /// A host that a redirect led to is given up.
        case hopeless(host: String, FetchTimes)
        case lostTouch(StateError)
        case stopped(any Error)
    }

    /// A kept answer whose body is in its place. Most attempts have none, so it takes no room in them.
    final class KeptBody: Sendable {
        let outcome: OutcomeContent
        let facts: StoredAnswer
        let body: HeldBody

        init(outcome: OutcomeContent, facts: StoredAnswer, body: HeldBody) {
            self.outcome = outcome
            self.facts = facts
            self.body = body
        }
    }

    let job: Job
    let runner: JobRunner
    let moves: HostMoves

    func run() async -> Outcome {
        let kept: KeptBody?
        do {
            if let body = try await runner.output.found(job) { return .found(body) }
            kept = try await keptBody()
        } catch {
            return .stopped(error)
        }
        guard let headers = job.headerFields else { return .withoutHeaders }
        return await ask(with: headers, after: kept)
    }

    private func keptBody() async throws -> KeptBody? {
        guard let outcome = job.stale, let facts = runner.freshness.kept(outcome),
            let body = try await runner.output.held(outcome, for: job)
        else { return nil }
        return KeptBody(outcome: outcome.content, facts: facts, body: body)
    }

    /// Asks the origin for the body or, with a kept answer, whether that is still current.
    private func ask(with headers: [HeaderField], after known: KeptBody?) async -> Outcome {
        var kept = known
        while true {
            let (start, clock) = (Moment.now, ContinuousClock.now)
            do throws(FetchError) {
                let conditions = kept?.facts.conditions ?? []
                let trace = runner.sendsTrace ? job.traceFields(besides: headers, id: .random(in: 1 ... .max)) : []
                let request = DownloadRequest(url: job.url, body: runner.output.bodyDestination, headers: headers + conditions + trace)
                runner.activity.began(job.token, host: job.host)
                let download = try await runner.downloader.download(request, through: moves)
                runner.activity.ended(job.token, nil, after: ContinuousClock.now - clock)
                let times = FetchTimes(start: start, end: .now)
                guard let asked = kept, download.status == 304 else { return .fetched(download, times) }
                download.body.discard()
                let confirmed = runner.freshness.confirmed(asked.facts, outcome: asked.outcome, by: download, for: job, at: times)
                if let (content, retention) = confirmed { return .confirmed(asked, content, retention, after: download.duration) }
                // The 304 does not fit the kept answer. The next request has no conditions, so that the origin sends the body.
                kept = nil
            } catch {
                runner.activity.ended(job.token, error, after: ContinuousClock.now - clock)
                let times = FetchTimes(start: start, end: .now)
                switch moves.end {
                case .putOff(let host, let pause)?: return .putOff(host: host, times, pause)
                case .hopeless(let host)?: return .hopeless(host: host, times)
                case .failed(let error)?: return .lostTouch(error)
                case nil: return .failed(error, times, after: ContinuousClock.now - clock)
                }
            }
        }
    }
}

extension JobAttempt.Outcome {
    /// The bytes of a body in memory.
    var bytesInMemory: Int {
        guard case .fetched(let download, _) = self, case .bytes(let bytes) = download.body else { return 0 }
        return bytes.count
    }
}
