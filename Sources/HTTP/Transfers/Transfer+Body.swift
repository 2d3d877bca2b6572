internal import GannetBase

/// The body of a transfer: where it ends, how it is decoded, and where it goes.
extension Transfer {
    /// False ends the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer, hasher: SHA256Hasher) -> Bool {
        let action = state.transferred(bytes.count)
        pace.came(bytes.count, ofBody: state.hasBody, at: .now)
        guard keepOnWire(bytes) else { return false }
        switch action {
        case .stop: return false
        case .discard: return true
        case .write: reportProgress()
        }
        guard let decoder else { return store(bytes, hasher) }
        do throws(FetchError) {
            return try decoder.decode(bytes) { store($0, hasher) }
        } catch {
            state.stop = .failure(.badEncoding, error.detail)
            return false
        }
    }

    func reportProgress() {
        guard let progress = ticket.request.progress else { return }
        progress(FetchProgress(received: state.transferredBytes, expected: state.announcedBytes))
    }

    /// Whether the headers say in at most one way where the body ends.
    ///
    /// libcurl believes the beginning of a length that is a number, and the last of several lengths. It passes over a length, or a chunked
    /// coding, that is folded or has a blank before its colon.
    var isWellFramed: Bool {
        let headers = responseHeaders
        if headers.isAmbiguous("content-length") || headers.isAmbiguous("transfer-encoding") { return false }
        let all = headers.has("content-length") ? headers.values(of: "content-length") : []
        if all.dropFirst().allSatisfy({ $0 == all[0] }), all.first?.utf8.allSatisfy(\.isDigit) ?? true { return true }
        let lengths = Set(all)
        let parts = Set(lengths.flatMap { $0.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } } })
        // RFC 9110 permits the same length several times.
        return parts.count == 1 && !lengths.contains { $0.contains { $0 == " " } && !$0.contains(",") }
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }
    }

    func checkFraming() -> Bool {
        guard isWellFramed else {
            state.stop = .failure(
                .protocolError,
                "it does not say clearly where its body ends: its length is no number, is given twice, or is written in an unusual way")
            return false
        }
        return state.announced(announcedLength)
    }

    private var announcedLength: Int64? {
        responseHeaders.bytes(of: "content-length").map {
            // The first of several equal ones. A number with too many digits is larger than any limit.
            let digits = $0.prefix(while: \.isDigit)
            return digits.isEmpty ? 0 : Int64(String(decoding: digits, as: UTF8.self)) ?? .max
        }
    }

    func prepareDecoder() -> Bool {
        let headers = responseHeaders
        // libcurl does not check the end of such a coding.
        if let coding = headers.encodings(of: "transfer-encoding").first {
            state.stop = .failure(.badEncoding, "the body is \(coding)-encoded for the transfer, although that was not asked for")
            return false
        }
        let names = headers.encodings()
        if names.isEmpty { return true }
        do throws(FetchError) {
            decoder = try ContentDecoder(encodings: names, intermediateLimit: ticket.request.mostOfBody(settings.fetch))
            return true
        } catch {
            state.stop = .failure(.badEncoding, error.detail)
            return false
        }
    }

    private func store(_ all: UnsafeRawBufferPointer, _ hasher: SHA256Hasher) -> Bool {
        guard let cut = ticket.request.cut, all.count > Int64(cut) - state.bodyBytes else { return write(all, hasher) }
        guard write(UnsafeRawBufferPointer(rebasing: all.prefix(max(0, cut - Int(state.bodyBytes)))), hasher) else { return false }
        state.stop = .cut
        return false
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ hasher: SHA256Hasher) -> Bool {
        guard state.unpacked(bytes.count) else { return false }
        do throws(StorageFailure) {
            if body == nil {
                let growing = ticket.request.growing.flatMap { (200...299).contains(state.status) ? $0 : nil }
                let claim = settings.fetch.room?.claim()
                if let growing { begin(growing, claim) }
                body = BodyWriter(
                    ticket.request.body, hasher: hasher, buffers: buffers, growing: growing, claim: claim,
                    expected: decoder == nil ? announcedLength.flatMap { Int(exactly: $0) } : nil)
            }
            try body?.write(bytes)
            return true
        } catch {
            state.stop = .storage(error)
            return false
        }
    }

    private func begin(_ growing: GrowingBody, _ claim: BodyClaim?) {
        let length = decoder == nil ? announcedLength.flatMap { Int(exactly: $0) } : nil
        let finalURL = RedactedURL.withoutUserInfo(target.text)
        growing.begin(
            GrowingBody.Head(finalURL: finalURL, status: state.status, headers: responseHeaders, length: length),
            in: buffers.take(min(length ?? 0, BodyBuffers.largest)), claim)
    }

    /// The whole body, now the caller's.
    func keepBody(hasher: SHA256Hasher) throws(StorageFailure) -> DownloadedBody {
        var store = body ?? BodyWriter(ticket.request.body, hasher: hasher, buffers: buffers)
        return try store.finish()
    }

    /// Why the body is incomplete by its encoding; nil when it is complete.
    func undecoded() -> String? {
        guard let decoder, state.hasBody, state.stop != .cut else { return nil }
        do throws(FetchError) {
            try decoder.finish()
            return nil
        } catch {
            return error.detail
        }
    }
}
