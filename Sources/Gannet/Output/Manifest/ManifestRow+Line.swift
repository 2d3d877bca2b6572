internal import HTTPEngine

extension ManifestRow {
    /// A URL is at most this long; a line of something else is cut.
    private static let longestText = 8192

    /// The row's line in a manifest. Its keys are a contract; what is unknown is `null`.
    func line(_ end: RowEnd) -> [UInt8] {
        var json = JSONLine()
        switch place {
        case .line(let number): json.add("line", number)
        case .argument(let number):
            json.add("line", nil as Int?)
            json.add("argument", number)
        case .finished(let number):
            json.add("line", nil as Int?)
            json.add("finished", number)
        }
        json.add("url", text)
        json.add("outcome", end.name)
        let record = end.record
        let body = end.outcome == .failed ? nil : record
        json.add("httpStatus", record.flatMap { $0.status > 0 ? $0.status : nil })
        json.add("bytes", body?.bytes)
        json.add("sha256", body?.digest?.hexadecimal)
        json.add("contentType", body.flatMap { $0.contentType.isEmpty ? nil : $0.contentType })
        // A fetch takes its time once.
        json.add("durationMilliseconds", end.outcome == .fetched || end.outcome == .failed ? record?.milliseconds : nil)
        json.add("file", body?.file)
        json.add("error", error(end))
        if let id { json.add("id", id) }
        return json.line
    }

    /// Passwords go to no file.
    private var text: ArraySlice<UInt8>? {
        guard case .url(let bytes) = content else { return nil }
        guard bytes.contains(UInt8(ascii: "@")) else { return bytes.prefix(Self.longestText) }
        let redacted = RedactedURL.withoutUserInfo(String(decoding: bytes, as: UTF8.self))
        return Array(redacted.utf8.prefix(Self.longestText))[...]
    }

    private func error(_ end: RowEnd) -> JSONLine? {
        var error = JSONLine()
        switch end.outcome {
        case .fetched, .there, .repeated: return nil
        case .failed:
            error.add("class", end.errorClass)
            error.add(
                "message",
                end.record?.errorMessage
                    ?? "It ended without a fetch by this run: its host had taken no connection for too long, its job was cancelled or deleted, its URL had failed for another queue, or three workers died with it."
            )
        case .invalid:
            error.add("class", "invalid")
            if case .invalid(let reason) = content { error.add("message", reason) } else { error.add("message", end.message) }
        }
        return error
    }
}

extension RowEnd {
    fileprivate var name: String {
        switch outcome {
        case .fetched: "fetched"
        case .there, .repeated: "cached"
        case .failed: "failed"
        case .invalid: "invalid"
        }
    }
}
