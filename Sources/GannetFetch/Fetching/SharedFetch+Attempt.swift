internal import GannetBase
internal import GannetHTTP
internal import GannetPictures

extension SharedFetch {
    /// Asks the origin for the whole answer, or whether the kept one is still current. The lease, where there is one, is given up in any
    /// case.
    /// - Returns: `nil` when the lease was lost during the transfer.
    func attempt(_ lease: (any SharedLease)?, _ stale: CachedAnswer?) async -> Result<ServedAnswer, FetchError>? {
        var conditions: [HeaderField] = []
        if let stale, stale.body.count == stale.facts.byteCount,
            case .revalidate(let headers, _) = fetch.decide(stale.facts, checked, parts.now())
        {
            conditions = headers
        }
        var attempts = 0
        while true {
            attempts += 1
            let (requestedAt, mark) = (parts.now(), fetch.removals.mark)
            let (result, end) = await download(conditions, lease)
            let receivedAt = parts.now()
            switch result {
            case .success(let download):
                var exchange = Exchange(download, request: checked.facts, requestedAt: requestedAt, receivedAt: receivedAt)
                guard download.status == 304, let stale, !conditions.isEmpty else {
                    return await arrived(download, exchange, mark, lease)
                }
                exchange.hasImageBody = Self.isImage(stale.body, stale.facts.headers.headers)
                if let answer = await confirmed(stale, exchange, mark, lease) { return .success(answer) }
                // The 304 was about another answer. A request without conditions cannot get a 304.
                conditions = []
            case .failure(let error) where error.kind == .cancelled:
                await release(lease)
                if end == .lostLease, !Task.isCancelled {
                    fetch.count { $0.locksLost += 1 }
                    return nil
                }
                return .failure(error)
            case .failure(let error) where end == .refusedByHost:
                // Nothing was learnt about the URL, so the failure is not remembered.
                await release(lease)
                return fetch.instead(of: error, stale, checked, since: self.mark)
            case .failure(let error):
                if let pause = parts.retries.pause(after: error, attempts: attempts, random: parts.random()) {
                    fetch.count { counts in
                        counts.failures += 1
                        counts.retries += 1
                    }
                    parts.observer?(.retrying(error, attempt: attempts, after: pause))
                    if (try? await parts.sleep(pause)) != nil { continue }
                    await release(lease)
                    return .failure(cancellation)
                }
                await failed(error, requestedAt, receivedAt, mark, lease)
                return fetch.instead(of: error, stale, checked, since: self.mark)
            }
        }
    }

    private enum TransferEnd {
        case ownEnd, lostLease
        /// A host had no place for the transfer.
        case refusedByHost
    }

    /// Transfers, unless the lease is lost meanwhile. Then another process transfers, and this transfer is cancelled.
    private func download(
        _ conditions: [HeaderField], _ lease: (any SharedLease)?
    ) async -> (Result<Download, FetchError>, TransferEnd) {
        var request = DownloadRequest(
            url: checked.request.url, body: .memory(upTo: Int(clamping: parts.maximumBody), thenFileIn: "/"),
            headers: checked.request.headers + conditions, progress: work.progress.report)
        let growing = work.bodies.reportIfHeard { GrowingBody() }
        request.growing = growing
        // A body that is whole stays so.
        defer { growing?.fail() }
        let places = TransferPlaces(fetch.gates, work.priority, work.hostWait)
        let task = Task { [request] in await transfer(request, places) }
        let loss = SharedFlag()
        lease?.whenLost {
            loss.set()
            task.cancel()
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return (result, loss.isSet ? .lostLease : places.refusal != nil ? .refusedByHost : .ownEnd)
    }

    private func transfer(_ request: DownloadRequest, _ places: TransferPlaces) async -> Result<Download, FetchError> {
        guard await places.enter(checked.host) else { return .failure(places.refusal ?? cancellation) }
        do throws(FetchError) {
            // Only places at hosts are a reason to ask at redirects.
            let download = try await parts.downloader.download(request, through: fetch.gates.areForHosts ? places : nil)
            await places.leave(after: nil)
            return .success(download)
        } catch {
            await places.leave(after: error)
            return .failure(places.refusal ?? error)
        }
    }

    private func arrived(
        _ download: Download, _ exchange: Exchange, _ mark: Removals.Mark, _ lease: (any SharedLease)?
    ) async -> Result<ServedAnswer, FetchError> {
        guard case .bytes(let body) = download.body else {
            await release(lease)
            return .failure(error(.engine, "the downloader did not deliver the body in memory"))
        }
        fetch.count { counts in
            counts.downloads += 1
            counts.bytes += download.transferredBytes
        }
        guard (200...299).contains(download.status) else {
            await release(lease)
            return .failure(FetchError(kind: .status(download.status), url: checked.request.url, headers: download.headers))
        }
        var answer = ServedAnswer(download, body: body)
        var exchange = exchange
        exchange.hasImageBody = Self.isImage(body, download.headers)
        switch StorageDecision(for: exchange, policy: parts.policy) {
        case .keep(let terms):
            let facts = StoredAnswer(
                exchange, terms: terms, canonicalURL: checked.canonicalURL, digest: SHA256Digest(of: body), byteCount: Int64(body.count))
            let kept = facts.withMessage(of: exchange)
            if await commit(CachedAnswer(facts: kept, body: body), mark, lease, revalidated: false) { answer.facts = kept }
        case .refuse(let reason):
            answer.isForOneRequest = reason.isForOneRequest
            await commitNothing(because: reason, status: download.status, lease)
        }
        return .success(answer)
    }

    /// Tells an image by its bytes, where the `Content-Type` leaves it open.
    private static func isImage(_ body: [UInt8], _ headers: ResponseHeaders) -> Bool {
        headers.leaveTypeOpen && (try? ImageProbe().examine(body)) != nil
    }

    /// `nil` when the 304 is about another answer.
    private func confirmed(
        _ stale: CachedAnswer, _ exchange: Exchange, _ mark: Removals.Mark, _ lease: (any SharedLease)?
    ) async -> ServedAnswer? {
        var answer = stale
        var (isKept, isForOneRequest) = (false, false)
        switch stale.facts.revalidated(by: exchange, policy: parts.policy) {
        case .unusable: return nil
        case .confirmed(let facts):
            answer.facts = facts
            isKept = await commit(answer, mark, lease, revalidated: true)
        case .confirmedOnce(let reason):
            answer.facts = stale.facts.confirmedOnce(by: exchange)
            isForOneRequest = reason.isForOneRequest
            await commitNothing(because: reason, status: stale.facts.status, lease)
        }
        fetch.count { $0.revalidations += 1 }
        var served = ServedAnswer(answer, .revalidated, at: exchange.receivedAt)
        if !isKept { served.facts = nil }
        served.isForOneRequest = isForOneRequest
        return served
    }

    /// Returns whether this process may keep the answer, as far as is known by then.
    private func commit(_ answer: CachedAnswer, _ mark: Removals.Mark, _ lease: (any SharedLease)?, revalidated: Bool) async -> Bool {
        let retention = answer.facts.retention(at: parts.now(), policy: parts.policy)
        keep(answer, since: mark)
        guard let lease else { return true }
        // An answer that was removed meanwhile is not shared. Processes that wait for it ask the origin themselves.
        let isRemoved = { @Sendable [fetch, checked] in fetch.removals.concernAlone(checked.key, since: mark) }
        if isRemoved() {
            await fetch.endings.run { await lease.shareNothing(status: answer.facts.status) }
            return false
        }
        let fenced = SharedFlag()
        await fetch.endings.run { [self] in
            switch await lease.commit(answer, kept: retention, revalidated: revalidated) {
            // Nobody waits to hear whether the tier could be reached. It was, a moment ago.
            case .stored: if isRemoved() { try? await parts.shared?.remove(checked.key, url: checked.canonicalURL) }
            case .fenced:
                // The shared answer is another process's, so this one is removed from the nearer tiers.
                fetch.count { $0.fenced += 1 }
                fenced.set()
                await forget()
            case .lost: fetch.count { $0.locksLost += 1 }
            case .refused: fetch.count { $0.sharedRefused += 1 }
            case .unavailable: fetch.count { $0.sharedUnavailable += 1 }
            }
        }
        return !fenced.isSet
    }

    private func commitNothing(because reason: StorageDecision.Reason, status: Int, _ lease: (any SharedLease)?) async {
        if reason.outdatesKept { await forget() }
        if let lease { await fetch.endings.run { await lease.shareNothing(status: status) } }
    }

    private func failed(
        _ error: FetchError, _ requestedAt: Moment, _ failedAt: Moment, _ mark: Removals.Mark, _ lease: (any SharedLease)?
    ) async {
        fetch.count { $0.failures += 1 }
        let decision = FailureDecision(
            after: error, for: checked.facts, requestedAt: requestedAt, failedAt: failedAt, policy: parts.policy)
        if decision.outdatesKept { await forget() }
        if decision.keptUntil > failedAt, !fetch.removals.concern(checked.key, since: mark) {
            fetch.failures.remember(error, for: checked.key, since: failedAt, until: decision.keptUntil)
        }
        // All headers are part of the key, so everybody who waits under the key has sent the same headers.
        guard decision.isForOthers else { return await release(lease) }
        if let lease { await fetch.endings.run { await lease.fail(error, for: decision.keptUntil - failedAt) } }
    }

    private func release(_ lease: (any SharedLease)?) async {
        if let lease { await fetch.endings.run { await lease.release() } }
    }
}
