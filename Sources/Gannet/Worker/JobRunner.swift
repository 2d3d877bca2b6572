internal import ClusterState
internal import FetchQueue
internal import HTTPEngine
internal import RedisClient

/// One job from lease to outcome: fetch, put the body in its place, settle.
struct JobRunner: Sendable {
    enum End: Sendable {
        case reported(WorkerReport)
        /// The job is handed back, or will come back by itself; the worker cannot go on.
        case failed(WorkerFailure)
    }

    let queue: FetchQueue
    let downloader: any Downloader
    let folder: BodyFolder
    let held: HeldLeases
    let policy: RetryPolicy

    func run(_ job: Job) async -> End {
        if let page = job.page { return await deliver(job, page) }
        // A task of its own, so that a lost lease can end this one job; its end is awaited here in any case.
        let fetch = Task { () -> Result<Download, FetchError> in
            do throws(FetchError) {
                return .success(try await downloader.download(DownloadRequest(url: job.url, body: .file(in: folder.path))))
            } catch {
                return .failure(error)
            }
        }
        held.add(job.token, cancel: fetch.cancel)
        defer { held.remove(job.token) }
        let outcome = await withTaskCancellationHandler {
            await fetch.value
        } onCancel: {
            fetch.cancel()
        }
        return await concluding(job) { await conclude(job, outcome) }
    }

    /// Gives a job up without prejudice.
    func handBack(_ job: Job) async -> End {
        do throws(StateError) {
            return .reported(try await settle(job, .handedBack) ? .handedBack(job) : .lost(job))
        } catch {
            return Self.end(of: job, error)
        }
    }

    /// Settling must not fail because the worker is being stopped: the outcome exists.
    private func concluding(_ job: Job, _ body: @escaping @Sendable () async -> End) async -> End {
        let conclusion = Task { await body() }
        held.conclude(job.token, abandon: conclusion.cancel)
        return await conclusion.value
    }

    /// Ends a job whose URL was fetched for another.
    private func deliver(_ job: Job, _ page: Page) async -> End {
        held.add(job.token, cancel: {})
        defer { held.remove(job.token) }
        return await concluding(job) {
            do throws(StateError) {
                if let file = folder.file(of: page.content.url, id: job.id, size: page.content.size) {
                    let news = WorkerReport.cached(url: RedactedURL(job.url).description, file: file)
                    return .reported(try await settle(job, .delivered) ? news : .lost(job))
                }
                // A page without a digest has zeros in its place.
                let digest = page.content.digest ?? [UInt8](repeating: 0, count: 32)
                return .reported(try await settle(job, .bodyMissing(digest: digest)) ? .bodyMissing(job) : .lost(job))
            } catch {
                return Self.end(of: job, error)
            }
        }
    }

    private func conclude(_ job: Job, _ outcome: Result<Download, FetchError>) async -> End {
        do throws(StateError) {
            switch outcome {
            case .success(let download):
                return try await place(download, of: job)
            case .failure(let error) where error.kind == .cancelled:
                return held.isLost(job.token) ? .reported(.lost(job)) : await handBack(job)
            case .failure(let error) where error.retry == .local:
                // The next URL would meet the same disk, or the same limit.
                _ = try await settle(job, .handedBack)
                return .failed(.output(error.description))
            case .failure(let error):
                return .reported(try await retryOrGiveUp(job, error))
            }
        } catch {
            return Self.end(of: job, error)
        }
    }

    private func retryOrGiveUp(_ job: Job, _ error: FetchError) async throws(StateError) -> WorkerReport {
        let decision = policy.decide(
            AttemptFailure(error.retry), failures: job.failures, throttled: job.throttled, random: .random(in: 0...1))
        let outcome: Settlement.Outcome
        let news: WorkerReport
        switch decision {
        case .retry(let pause): (outcome, news) = (.retry(after: pause), .putOff(error, pause))
        case .coolDown(let pause): (outcome, news) = (.throttled(for: pause), .putOff(error, pause))
        case .giveUp: (outcome, news) = (.failed(PageContent(error, of: job), .forThoseWhoWait), .failed(error))
        case .giveUpThrottled:
            // Where a proxy or all name servers were missing, no host has asked for anything.
            let patience =
                error.retry == .withoutNetwork ? error : FetchError(kind: .throttled, url: job.url, detail: error.detail)
            (outcome, news) = (.failed(PageContent(patience, of: job), .forThoseWhoWait), .failed(patience))
        }
        return try await settle(job, outcome, host: Settlement.HostNews(error.kind)) ? news : .lost(job)
    }

    /// False when the lease was lost, and the job is another worker's.
    private func settle(
        _ job: Job, _ outcome: Settlement.Outcome, host: Settlement.HostNews = .none, bytes: Int = 0
    ) async throws(StateError) -> Bool {
        let settlement = Settlement(job.token, job.id, outcome, host: host, bytes: bytes)
        return try await queue.settle(settlement, claimsAgain: held.claimsAgain) == .settled
    }

    /// What it comes to that an outcome could not be told to Redis.
    private static func end(of job: Job, _ error: StateError) -> End {
        if case .redis(let reason) = error, reason.kind == .cancelled { return .reported(.left(job)) }
        return .failed(.cluster(ClusterError(error)))
    }

    private func place(_ download: Download, of job: Job) async throws(StateError) -> End {
        guard case .file(let temporaryFile, _) = download.body else { fatalError("A downloader put a body elsewhere than it was told.") }
        let file: String
        do throws(BodyFolder.Failure) {
            file = try folder.place(temporaryFile, of: job.url, id: job.id)
        } catch {
            _ = try await settle(job, .handedBack)
            return .failed(.output(error.description))
        }
        // The body is in place before the job is done: a crash in between fetches it again and loses nothing.
        let content = PageContent(download, of: job, file: file)
        let accepted = try await settle(
            job, .fetched(content, .forThoseWhoWait), host: .answered, bytes: Int(download.byteCount))
        let news = WorkerReport.fetched(url: RedactedURL(job.url).description, bytes: Int(download.byteCount), file: file)
        return .reported(accepted ? news : .lost(job))
    }
}
