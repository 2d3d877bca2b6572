internal import GannetBasics
internal import HTTPEngine

extension ManifestRow {
    /// A URL is at most this long; a line of something else is cut.
    private static let longestText = 8192

    /// The row's line in a manifest. Its keys are a contract; what is unknown is `null`.
    func line(_ end: RowEnd) -> [UInt8] {
        var members: [(key: String, value: JSONValue)] = []
        switch place {
        case .line(let number): members.append(("line", .integer(number)))
        case .argument(let number): members += [("line", nil), ("argument", .integer(number))]
        case .finished(let number): members += [("line", nil), ("finished", .integer(number))]
        }
        let record = end.record
        let body = end.outcome == .failed ? nil : record
        members += [
            ("url", JSONValue(text)),
            ("outcome", .string(end.name)),
            ("httpStatus", JSONValue(record.flatMap { $0.status > 0 ? $0.status : nil })),
            ("bytes", JSONValue(body?.bytes)),
            ("sha256", JSONValue(body?.digest?.hexadecimal)),
            ("contentType", JSONValue(body.flatMap { $0.contentType.isEmpty ? nil : $0.contentType })),
            // A fetch takes its time once.
            ("durationMilliseconds", JSONValue(end.outcome == .fetched || end.outcome == .failed ? record?.milliseconds : nil)),
            ("file", JSONValue(body?.file)),
            ("error", error(end)),
        ]
        if let id { members.append(("id", .string(String(decoding: id, as: UTF8.self)))) }
        var line: [UInt8] = []
        JSONValue.object(members).append(to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Passwords go to no file.
    private var text: String? {
        guard case .url(let bytes) = content else { return nil }
        guard bytes.contains(UInt8(ascii: "@")) else { return String(decoding: bytes.prefix(Self.longestText), as: UTF8.self) }
        let redacted = RedactedURL.withoutUserInfo(String(decoding: bytes, as: UTF8.self))
        return String(decoding: redacted.utf8.prefix(Self.longestText), as: UTF8.self)
    }

    private func error(_ end: RowEnd) -> JSONValue {
        switch end.outcome {
        case .fetched, .there, .repeated: return nil
        case .failed:
            let message =
                end.record?.errorMessage
                ?? "It ended without a fetch by this run: its host had taken no connection for too long, its job was cancelled or deleted, its URL had failed for another queue, or three workers died with it."
            return ["class": .string(end.errorClass), "message": .string(message)]
        case .invalid:
            if case .invalid(let reason) = content { return ["class": "invalid", "message": .string(reason)] }
            return ["class": "invalid", "message": JSONValue(end.message)]
        }
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
