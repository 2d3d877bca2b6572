import CCurl

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension EasyHandle {
    /// What the transfer in the handle came to, when there is nowhere to go on to. Leaves a file only in success.
    func outcome(_ code: CURLcode, _ settings: EngineSettings) -> TransferTicket.Outcome {
        guard let transfer else { fatalError("A libcurl handle ended that has no transfer.") }
        let request = transfer.ticket.request
        let finalURL = RedactedURL.withoutUserInfo(transfer.target.url)
        var ending = TransferState.Ending(
            code: code, text: "", sentRange: request.asksForPart, isBehindProxy: settings.proxy != nil,
            followsRedirects: settings.fetch.maximumRedirects > 0)
        if code != CURLE_OK {
            ending.text = text(for: code)
            ending.systemError = Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO))
            // libcurl's clock has milliseconds, and may be one ahead of ours.
            ending.isOutOfTime = transfer.timeLeft <= .milliseconds(5)
            ending.finalURL = RedactedURL(finalURL).description
            ending.lacksDescriptors = SystemLimit.lacksDescriptors
        }
        if let (kind, detail) = transfer.state.failure(ending) {
            var error = transfer.failure(kind, detail)
            if case .throttled = kind.retry { error.retryAfter = transfer.retryAfter }
            if case .status = kind { error.headers = transfer.responseHeaders }
            return .failure(error)
        }
        if let reason = transfer.undecoded() { return .failure(transfer.failure(.truncated, reason)) }
        do throws(StorageFailure) {
            let body = try transfer.keepBody(hasher: hasher)
            return .success(
                Download(
                    finalURL: finalURL, status: transfer.state.status, headers: transfer.responseHeaders, body: body,
                    byteCount: transfer.state.bodyBytes, transferredBytes: transfer.state.transferredBytes,
                    duration: .now - transfer.start, hops: transfer.hops))
        } catch {
            return .failure(transfer.failure(error.kind, error.description))
        }
    }
}

extension Transfer {
    /// How long the server asked to be left alone.
    fileprivate var retryAfter: Duration? {
        responseHeaders["retry-after"].flatMap { RetryAfter.parse($0, now: Int64(time(nil))) }
    }
}
