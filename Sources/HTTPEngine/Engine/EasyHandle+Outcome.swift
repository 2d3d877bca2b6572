import CCurl

extension EasyHandle {
    /// What the transfer in the handle came to. Leaves a file only in success.
    func outcome(_ code: CURLcode, _ options: DownloaderOptions) -> TransferTicket.Outcome {
        guard let transfer else { fatalError("A libcurl handle ended that has no transfer.") }
        let request = transfer.ticket.request
        let duration = ContinuousClock.now - transfer.start
        let finalURL = RedactedURL.withoutUserInfo(string(CURLINFO_EFFECTIVE_URL) ?? request.url)
        let ending = TransferState.Ending(
            code: code, text: code == CURLE_OK ? "" : text(for: code),
            sentRange: request.headers.contains { $0.name.lowercased() == "range" }, isOutOfTime: duration >= options.timeout,
            finalURL: RedactedURL(finalURL).description, lacksDescriptors: code != CURLE_OK && SystemLimit.lacksDescriptors)
        if let (kind, detail) = transfer.state.failure(ending) {
            return .failure(FetchError(kind: kind, url: request.url, detail: detail))
        }
        do throws(StorageFailure) {
            let (path, digest) = try transfer.keepBody()
            return .success(
                Download(
                    finalURL: finalURL,
                    status: transfer.state.status,
                    contentType: string(CURLINFO_CONTENT_TYPE).map { String($0.prefix(256)) },
                    byteCount: transfer.state.bodyBytes, digest: digest, file: path, duration: duration,
                    redirects: number(CURLINFO_REDIRECT_COUNT)))
        } catch {
            return .failure(FetchError(kind: error.kind, url: request.url, detail: error.description))
        }
    }
}
