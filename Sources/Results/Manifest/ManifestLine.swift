internal import GannetBase
internal import GannetHTTP
internal import GannetPictures
internal import GannetQueue
internal import Lists

/// A line of the manifest: a row, and how it ended.
struct ManifestLine {
    /// Every line begins so.
    static let start = #"{"line":"#

    let row: Row
    let outcome: JobRecord.Outcome
    /// Nil for a row that is no URL, or whose job has left no record.
    var record: JobRecord?
    /// Why there is no record.
    private let reason: JobRecord.Failure?
    /// Whether the record is of this run. Nil where the run has ended before it asked for the body again.
    private let isNew: Bool?

    init(_ row: Row, _ outcome: JobRecord.Outcome, _ record: JobRecord, isNew: Bool? = false) {
        (self.row, self.outcome, self.record, reason) = (row, outcome, record, nil)
        self.isNew = outcome == .fetched ? true : isNew
    }

    init(_ row: Row, _ outcome: JobRecord.Outcome, because errorClass: String, _ message: String) {
        (self.row, self.outcome, reason, isNew) = (row, outcome, JobRecord.Failure(errorClass: errorClass, message: message), false)
    }

    /// A failed row has one where the body of an earlier run has stayed.
    var hasBody: Bool { outcome == .failed ? record?.staleness != nil : record != nil }

    /// Of a row that has failed, or has not ended.
    var error: JobRecord.Failure? {
        guard outcome == .failed, let record else { return reason }
        return record.staleness ?? JobRecord.Failure(errorClass: record.errorClass, message: record.errorMessage)
    }

    /// The site does not permit the URL, which is no failure.
    var isDisallowed: Bool { outcome == .failed && error?.errorClass == FailureCounts.disallowed }

    /// With its line break. Its keys are a contract; unknown values are `null`.
    var bytes: [UInt8] {
        var line = object(members)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// An object with these members and the carried values.
    func object(_ members: [(key: String, value: JSONValue)]) -> [UInt8] {
        var text: [UInt8] = []
        JSONValue.object(members).append(to: &text)
        guard let carried = row.carried else { return text }
        text.removeLast()
        text += ",\"carried\":".utf8
        text += carried
        text.append(UInt8(ascii: "}"))
        return text
    }

    var members: [(key: String, value: JSONValue)] {
        var members: [(key: String, value: JSONValue)] = []
        switch row.place {
        case .line(let number): members.append(("line", .integer(number)))
        case .argument(let number): members += [("line", nil), ("argument", .integer(number))]
        case .finished(let number): members += [("line", nil), ("finished", .integer(number))]
        }
        let body = hasBody ? record : nil
        let hasDuration = outcome == .fetched || outcome == .revalidated || outcome == .failed
        members += [
            ("url", JSONValue(url)),
            ("outcome", .string(isDisallowed ? FailureCounts.disallowed : (outcome == .repeated ? .there : outcome).rawValue)),
            ("httpStatus", JSONValue(record.flatMap { $0.status > 0 ? $0.status : nil })),
            ("bytes", JSONValue(body?.bytes)),
            ("sha256", JSONValue(body?.digest?.hexadecimal)),
            ("contentType", JSONValue(body.flatMap { $0.contentType.isEmpty ? nil : $0.contentType })),
            // Only one row holds the duration of a fetch.
            ("durationMilliseconds", JSONValue(hasDuration ? record?.milliseconds : nil)),
            // An archive has the answer of a failed row too.
            ("file", JSONValue(record.flatMap { $0.file.isEmpty ? nil : $0.file })),
        ]
        if let picture = body?.picture {
            members += [
                ("width", .integer(picture.size.width)), ("height", .integer(picture.size.height)),
                ("originalWidth", .integer(picture.original.width)), ("originalHeight", .integer(picture.original.height)),
                ("fileBytes", .integer(picture.bytes)), ("fileSha256", .string(picture.digest.hexadecimal)),
            ]
        }
        members.append(("result", JSONValue(result)))
        if result == "changed" || outcome == .failed && record?.lastDigest != nil {
            members.append(("lastSha256", JSONValue(record?.lastDigest?.hexadecimal)))
        }
        // Most answers say little, and the line has no keys for the rest.
        func time(_ milliseconds: Int) -> JSONValue { JSONValue(milliseconds > 0 ? UTCTime.text(milliseconds) : nil) }
        members.append(("fetchedAt", time(body?.fetchedAt ?? 0)))
        if let body, body.checkedAt > 0 { members.append(("checkedAt", time(body.checkedAt))) }
        for (key, text) in zip(JobRecord.factKeys, body?.facts ?? []) where !text.isEmpty { members.append((key, .string(text))) }
        members.append(("error", error.map { ["class": .string($0.errorClass), "message": .string($0.message)] } ?? .null))
        if let optOut = body?.errorMessage, !optOut.isEmpty { members.append(("optOut", .string(optOut))) }
        if let clause = body?.typeMismatch, !clause.isEmpty { members.append(("typeMismatch", .string(clause))) }
        if let id = row.id { members.append(("id", .string(String(decoding: id, as: UTF8.self)))) }
        return members
    }

    /// Longer text is cut to this length.
    private static let longestURL = 8192

    /// Without user and password.
    private var url: String? {
        guard case .url(let bytes) = row.content, !bytes.isEmpty else { return nil }
        // An escaped `@` ends a password too.
        let isPlain = !bytes.contains(UInt8(ascii: "@")) && !bytes.contains(UInt8(ascii: "%"))
        if isPlain { return String(decoding: bytes.prefix(Self.longestURL), as: UTF8.self) }
        let redacted = RedactedURL.withoutUserInfo(String(decoding: bytes, as: UTF8.self))
        return String(decoding: redacted.utf8.prefix(Self.longestURL), as: UTF8.self)
    }

    /// The row against what the folder had before. Nil for a row that is no URL, or has not ended.
    private var result: String? {
        if outcome == .failed { return isDisallowed ? FailureCounts.disallowed : "failed" }
        guard let record, let isNew else { return nil }
        if !isNew { return "same" }
        return record.lastDigest.map { $0 == record.digest ? "same" : "changed" } ?? "new"
    }
}
