internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import Results

/// The result of an attempt. An object, because it passes through many hands and takes much room.
final class AttemptResult: Sendable {
    enum Kind: Sendable {
        /// The body was in its place before the origin was asked.
        case found(HeldBody)
        case fetched(Download)
        /// The origin confirmed that the kept answer is still current.
        indirect case confirmed(KeptBody, OutcomeContent, Retention, after: Duration)
        case failed(FetchError, after: Duration)
        /// The job ends with this error, because a request may not be made.
        case refused(FetchError, host: Settlement.HostNews)
        /// The headers that the job was enqueued with are missing. Without them the origin may send another answer.
        case withoutHeaders
        /// A host that a redirect led to has no free place. The job should come back after this time.
        case atFullHost(String, pause: Duration)
        /// The job goes back at once, and is handed out again when its host may get another request.
        case beforeItsTurn
        /// The worker cannot go on.
        case broken(any Error)
    }

    let kind: Kind
    let times: FetchTimes
    /// The exchanges, for an output that stores them, or a job that keeps them.
    let wire: WireRecord?

    init(_ kind: Kind, _ times: FetchTimes, _ wire: WireRecord?) {
        self.kind = kind
        self.times = times
        self.wire = wire
    }

    /// The bytes in memory of a body that has to be stored; `nil` where there is no such body.
    var bytesToStore: Int? {
        guard case .fetched(let download) = kind else { return nil }
        guard case .bytes(let bytes) = download.body else { return 0 }
        return bytes.count
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

/// One attempt at a job's URL: asks the output, then the site, and then the origin.
final class JobAttempt: Sendable {
    struct State {
        /// The job for which the request is made. Another one may have adopted it.
        var job: Job
        /// Why the request may not follow a redirect.
        var refusal: AttemptResult?
    }

    /// The first job. The worker's activity knows the request by its token.
    let job: Job
    let runner: JobRunner
    let state: Mutex<State>
    private let wire: WireRecord?

    @inline(never) init(_ job: Job, _ runner: JobRunner) {
        self.job = job
        self.runner = runner
        state = Mutex(State(job: job))
        wire = runner.output.wireRecord(for: job)
    }

    /// The attempt goes on for another job of its URL, under that job's token.
    func adopt(_ job: Job) { state.withLock { $0.job = job } }

    /// Asks the output and the site first. A task that waits for the origin keeps nothing of that.
    func run() async -> AttemptResult {
        switch await prepare() {
        case .ended(let result): result
        case .asks(let kept): await ask(after: kept)
        }
    }

    private enum Preparation {
        case ended(AttemptResult)
        case asks(after: KeptBody?)
    }

    @inline(never) private func prepare() async -> Preparation {
        var kept: KeptBody?
        do {
            if let body = try await runner.output.found(job) { return .ended(result(.found(body))) }
            if job.stale != nil { kept = try await keptBody() }
            if kept == nil { kept = try await earlierBody() }
        } catch {
            return .ended(result(.broken(error)))
        }
        guard job.headerFields != nil else { return .ended(result(.withoutHeaders)) }
        if let refusal = await refusalBeforeRequest() { return .ended(refusal) }
        return .asks(after: kept)
    }

    @inline(never) func result(_ kind: AttemptResult.Kind, _ times: FetchTimes = .now) -> AttemptResult { AttemptResult(kind, times, wire) }
}

// MARK: The kept answer

extension JobAttempt {
    private func keptBody() async throws -> KeptBody? {
        // The whole answer says once more whether its body may be used. Its confirmation need not.
        if job.manners.optOuts == .heed, job.stale?.content.fields[.optOut] != nil { return nil }
        guard let outcome = job.stale, let facts = runner.freshness.kept(outcome),
            let body = try await inTime(Self.longestLook, { try await self.runner.output.held(outcome, for: self.job) })
        else { return nil }
        return KeptBody(outcome: outcome.content, facts: facts, body: body, isShared: true)
    }

    private func earlierBody() async throws -> KeptBody? {
        guard let earlier = try await runner.output.earlier(job) else { return nil }
        return known(earlier)
    }

    @inline(never) private func known(_ earlier: JobRecord) -> KeptBody? {
        let content = earlier.content(of: job.url)
        if job.manners.optOuts == .heed, content.fields[.optOut] != nil { return nil }
        return runner.freshness.kept(earlier, for: job).map {
            KeptBody(outcome: content, facts: $0, body: HeldBody(file: earlier.file, picture: earlier.picture), isShared: false)
        }
    }

    /// A part of the store that is away has no body for now. The job has its host's place already, and must not keep it for that.
    private static let longestLook = Duration.seconds(1)
}

// MARK: The site

extension JobAttempt {
    private func refusalBeforeRequest() async -> AttemptResult? {
        guard job.manners.obeys || runner.paces.adapts, let url = try? CanonicalURL(job.url) else { return nil }
        let refusal = await refusal(of: url, claimed: job.handedOut)
        if refusal != nil { runner.activity.calledOff(job.token) }
        return refusal
    }

    /// Why the site or its pace keeps the job from a URL; nil where the request may be made.
    /// - Parameters:
    ///   - claimed: When the job was handed out with a place at the URL's host; nil where it has none there yet.
    ///   - hop: The redirect that has led to the URL.
    func refusal(of url: CanonicalURL, claimed: Int?, after hop: NextHop? = nil) async -> AttemptResult? {
        do throws(StateError) {
            guard job.manners.obeys else {
                // Only a worker that adapts its pace has one for such a job.
                return try await runner.paces.permits(nil, of: url, claimed: claimed) ? nil : result(.beforeItsTurn)
            }
            let permission = await runner.sites.permission(
                for: url,
                // The request for the rules is the first of the job. Screens and status show the host that it waits for.
                asks: { if hop == nil { runner.activity.began(job.token, host: job.host) } },
                // The job has its place at the host that has answered.
                asked: { if hop == nil { runner.tell(.hostAnswered(job.token)) } })
            guard case .granted(let delay) = permission else { return refusal(permission, of: url, after: hop) }
            return try await runner.paces.permits(delay, of: url, claimed: claimed) ? nil : result(.beforeItsTurn)
        } catch {
            return result(error.isCancellation ? .failed(FetchError(kind: .cancelled, url: job.url), after: .zero) : .broken(error))
        }
    }

    @inline(never) private func refusal(_ permission: Sites.Permission, of url: CanonicalURL, after hop: NextHop?) -> AttemptResult? {
        switch permission {
        case .granted: return nil
        case .denied(let rule):
            // The job's host has answered if it led to itself. For its rules, the machine was told of the answer.
            let hasAnswered = hop.map { !$0.isElsewhere } ?? false
            let start = hop != nil ? "redirected to \(url): " : ""
            let error = FetchError(kind: .disallowed, url: job.url, detail: start + rule)
            return result(.refused(error, host: hasAnswered ? .answered : .none))
        case .unknown(let error):
            runner.activity.lacksRules(error)
            // The job goes on as if the request for the URL had failed so. A message with two full stops would read like two.
            let place = "\(url.plainOrigin)/robots.txt"
            let reason = error.description.hasSuffix(".") ? String(error.description.dropLast()) : error.description
            let cause = reason.contains(place) ? reason : "\(reason), for \(place)"
            let own = RedactedURL(job.url)
            let effect = hop == nil ? "\(own) was not requested" : "the redirect of \(own) to \(url) was not followed"
            let detail = "\(cause); the robots.txt of the site could not be read, so \(effect)."
            return result(.failed(FetchError(kind: error.kind, url: job.url, detail: detail, retryAfter: error.retryAfter), after: .zero))
        }
    }
}

// MARK: The origin

extension JobAttempt {
    /// Asks the origin for the body or, with a kept answer, whether that is still current.
    @inline(never) private func ask(after known: KeptBody?) async -> AttemptResult {
        var kept = known
        while true {
            let (start, clock) = (Moment.now, ContinuousClock.now)
            let end = await runner.downloader.end(of: beginRequest(after: kept), through: self)
            if let result = result(of: end, after: kept, start, clock) { return result }
            // The 304 does not fit the kept answer. The next request has no conditions, so that the origin sends the body.
            kept = nil
        }
    }

    @inline(never) private func beginRequest(after kept: KeptBody?) -> DownloadRequest {
        runner.activity.began(job.token, host: job.host)
        let headers = job.headerFields ?? []
        let conditions = kept?.facts.conditions ?? []
        let trace = runner.options.sendsTrace ? job.traceFields(besides: headers, id: .random(in: 1 ... .max)) : []
        var request = DownloadRequest(url: job.url, body: runner.output.bodyDestination, headers: headers + conditions + trace)
        wire?.clear()
        request.wire = wire
        if job.manners.optOuts == .heed { request.refusal = { [agent = runner.sites.agent] in $0.optOut(for: agent) } }
        return request
    }

    /// Nil when the answer is a 304 that does not fit.
    @inline(never) private func result(
        of end: DownloadEnd, after kept: KeptBody?, _ start: Moment, _ clock: ContinuousClock.Instant
    ) -> AttemptResult? {
        let time = ContinuousClock.now - clock
        let times = FetchTimes(start: start, end: .now)
        switch end.result {
        case .success(let download):
            runner.activity.ended(job.token, nil, after: time)
            runner.paces.answered(job.host, after: download.duration)
            return answered(download, kept, times)
        case .failure(let error):
            runner.activity.ended(job.token, error, after: time)
            if error.retry.timesTheHost { runner.paces.answered(job.host, after: time) }
            return failed(error, times, after: time)
        }
    }

    /// Nil when the answer is a 304 that does not fit.
    private func answered(_ download: Download, _ asked: KeptBody?, _ times: FetchTimes) -> AttemptResult? {
        guard let asked, download.status == 304 else { return result(.fetched(download), times) }
        download.body.discard()
        let confirmed = runner.freshness.confirmed(
            asked.facts, outcome: asked.outcome, isShared: asked.isShared, by: download, for: job, at: times)
        return confirmed.map { result(.confirmed(asked, $0, $1, after: download.duration), times) }
    }

    /// A refused redirect ends the transfer as cancelled.
    private func failed(_ error: FetchError, _ times: FetchTimes, after duration: Duration) -> AttemptResult {
        state.withLock { $0.refusal } ?? result(.failed(error, after: duration), times)
    }
}

extension Job {
    /// The headers of the job's request; `nil` if some are missing, or if this version cannot send them. Without them the origin may send
    /// another answer.
    var headerFields: [HeaderField]? {
        guard let headers else { return nil }
        let fields = headers.fields
        return fields.count == headers.lines.count ? fields : nil
    }

    private static let traceHeader = "traceparent"

    /// The header that tells an origin which trace a request is a part of; none if the job has no trace, or sets this header itself.
    /// - Parameter id: The id of the request. No two requests have the same.
    fileprivate func traceFields(besides headers: [HeaderField], id: UInt64) -> [HeaderField] {
        guard let trace, !headers.contains(where: { $0.name.lowercased() == Self.traceHeader }) else { return [] }
        return HeaderField(name: Self.traceHeader, value: trace.child(id).text).map { [$0] } ?? []
    }
}
