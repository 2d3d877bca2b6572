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

    func run(_ job: Job) async -> End {
        // A task of its own, so that a lost lease can end this one job; its end is awaited here in any case.
        let fetch = Task { () -> Result<Download, FetchError> in
            do throws(FetchError) {
                return .success(try await downloader.download(DownloadRequest(url: job.url, bodyFolder: folder.path)))
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
        // Settling must not fail because the worker is being stopped: the outcome exists.
        let conclusion = Task { await conclude(job, outcome) }
        held.conclude(job.token, abandon: conclusion.cancel)
        return await conclusion.value
    }

    /// Gives a job up without prejudice.
    func handBack(_ job: Job) async -> End {
        do throws(RedisError) {
            let accepted = try await queue.settle(job, .handedBack)
            return .reported(accepted ? .handedBack(job) : .lost(job))
        } catch {
            return Self.end(of: job, error)
        }
    }

    private func conclude(_ job: Job, _ outcome: Result<Download, FetchError>) async -> End {
        do throws(RedisError) {
            switch outcome {
            case .success(let download):
                return try await place(download, of: job)
            case .failure(let error) where error.kind == .cancelled:
                return held.isLost(job.token) ? .reported(.lost(job)) : await handBack(job)
            case .failure(let error) where error.isLocal:
                // The next URL would meet the same disk, or the same limit.
                _ = try await queue.settle(job, .handedBack)
                return .failed(.output(error.description))
            case .failure(let error):
                let accepted = try await queue.settle(job, .failed)
                return .reported(accepted ? .failed(error) : .lost(job))
            }
        } catch {
            return Self.end(of: job, error)
        }
    }

    /// What it comes to that an outcome could not be told to Redis.
    private static func end(of job: Job, _ error: RedisError) -> End {
        error.kind == .cancelled ? .reported(.left(job)) : .failed(.cluster(ClusterError(error)))
    }

    private func place(_ download: Download, of job: Job) async throws(RedisError) -> End {
        let file: String
        do throws(BodyFolder.Failure) {
            file = try folder.place(download.file, of: job.url, id: job.id)
        } catch {
            _ = try await queue.settle(job, .handedBack)
            return .failed(.output(error.description))
        }
        // The body is in place before the job is done: a crash in between fetches it again and loses nothing.
        let accepted = try await queue.settle(job, .done, bytes: Int(download.byteCount))
        let news = WorkerReport.fetched(url: RedactedURL(job.url).description, bytes: Int(download.byteCount), file: file)
        return .reported(accepted ? news : .lost(job))
    }
}
