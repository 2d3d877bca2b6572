internal import GannetBase
internal import GannetHTTP
internal import GannetPictures

/// A row of a run's input, when the input is read for the second time, or a URL of a batch.
package struct ManifestRow: Sendable {
    package enum Content: Sendable {
        case url(ArraySlice<UInt8>)
        /// A URL that is no longer known.
        case unknown
        /// The reader's reason why the row is not text that may be a URL.
        case invalid(String)
    }

    package enum Place: Sendable {
        /// A line of the input's file, from 1.
        case line(Int)
        /// An argument of the command, from 1.
        case argument(Int)
        /// The place among the finished jobs of a batch, from 1. The order of the batch's input is not known.
        case finished(Int)
    }

    package let place: Place
    package let content: Content
    /// The row's id in the input.
    package let id: ArraySlice<UInt8>?
    /// The row's carried values: the text of one JSON object. The line has it as it is.
    package let carried: ArraySlice<UInt8>?

    /// The row's URL, as it stands in the input.
    var url: String? { if case .url(let bytes) = content { String(decoding: bytes, as: UTF8.self) } else { nil } }

    package init(_ place: Place, _ content: Content, id: ArraySlice<UInt8>? = nil, carried: ArraySlice<UInt8>? = nil) {
        self.place = place
        self.content = content
        self.id = id
        self.carried = carried
    }
}

extension ManifestRow {
    /// The length of the longest URL. Longer text is cut to this length.
    private static let longestText = 8192

    /// The row's line in a manifest. Its keys are a contract; unknown values are `null`.
    func line(_ end: RowEnd) -> [UInt8] {
        var line: [UInt8] = []
        append(members(end), to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Appends an object with these members and the carried values.
    func append(_ members: [(key: String, value: JSONValue)], to text: inout [UInt8]) {
        JSONValue.object(members).append(to: &text)
        guard let carried else { return }
        text.removeLast()
        text += ",\"carried\":".utf8
        text += carried
        text.append(UInt8(ascii: "}"))
    }

    func members(_ end: RowEnd) -> [(key: String, value: JSONValue)] {
        var members: [(key: String, value: JSONValue)] = []
        switch place {
        case .line(let number): members.append(("line", .integer(number)))
        case .argument(let number): members += [("line", nil), ("argument", .integer(number))]
        case .finished(let number): members += [("line", nil), ("finished", .integer(number))]
        }
        let record = end.record
        let body = end.hasBody ? record : nil
        members += [
            ("url", JSONValue(text)),
            ("outcome", .string(end.name)),
            ("httpStatus", JSONValue(record.flatMap { $0.status > 0 ? $0.status : nil })),
            ("bytes", JSONValue(body?.bytes)),
            ("sha256", JSONValue(body?.digest?.hexadecimal)),
            ("contentType", JSONValue(body.flatMap { $0.contentType.isEmpty ? nil : $0.contentType })),
            // Only one row holds the duration of a fetch.
            ("durationMilliseconds", JSONValue(end.hasDuration ? record?.milliseconds : nil)),
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
        members.append(("result", JSONValue(end.result?.rawValue)))
        if end.result == .changed || end.result == .failed && record?.lastDigest != nil {
            members.append(("lastSha256", JSONValue(record?.lastDigest?.hexadecimal)))
        }
        members += answer(body)
        members.append(("error", error(end)))
        if let optOut = body?.errorMessage, !optOut.isEmpty { members.append(("optOut", .string(optOut))) }
        if let id { members.append(("id", .string(String(decoding: id, as: UTF8.self)))) }
        return members
    }

    /// The answer's own words about itself. Most answers say little, and the line has no keys for the rest.
    private func answer(_ body: JobRecord?) -> [(key: String, value: JSONValue)] {
        guard let body else { return [("fetchedAt", nil)] }
        let answer = body.answer
        func time(_ milliseconds: Int) -> JSONValue { JSONValue(milliseconds > 0 ? UTCTime.text(milliseconds) : nil) }
        var members: [(key: String, value: JSONValue)] = [("fetchedAt", time(answer.fetchedAt))]
        if body.checkedAt > 0 { members.append(("checkedAt", time(body.checkedAt))) }
        let facts = [
            ("finalUrl", answer.finalURL), ("etag", answer.entityTag), ("lastModified", answer.lastModified),
            ("cacheControl", answer.cacheControl), ("expires", answer.expires), ("age", answer.age),
        ]
        return members + facts.filter { !$1.isEmpty }.map { ($0, .string($1)) }
    }

    /// The URL of the row, without user and password.
    private var text: String? {
        guard case .url(let bytes) = content else { return nil }
        // An escaped `@` ends a password too.
        guard bytes.contains(UInt8(ascii: "@")) || bytes.contains(UInt8(ascii: "%")) else {
            return String(decoding: bytes.prefix(Self.longestText), as: UTF8.self)
        }
        let redacted = RedactedURL.withoutUserInfo(String(decoding: bytes, as: UTF8.self))
        return String(decoding: redacted.utf8.prefix(Self.longestText), as: UTF8.self)
    }

    private func error(_ end: RowEnd) -> JSONValue {
        switch end.outcome {
        case .fetched, .revalidated, .there, .kept, .repeated: return nil
        case .failed:
            let message =
                end.record?.staleness?.message ?? end.record?.errorMessage ?? end.message
                ?? "The job ended without a fetch by this run. Its host was unreachable for too long, it was cancelled or deleted, its URL failed for another queue, or three workers died with it."
            return ["class": .string(end.errorClass), "message": .string(message)]
        case .pending: return ["class": "pending", "message": JSONValue(end.message)]
        case .invalid:
            if case .invalid(let reason) = content { return ["class": "invalid", "message": .string(reason)] }
            return ["class": "invalid", "message": JSONValue(end.message)]
        }
    }
}

/// The outcome of a row.
struct RowEnd {
    enum Outcome {
        case fetched
        /// An earlier run fetched the URL, and the origin says that it has not changed.
        case revalidated
        /// An earlier run fetched the URL.
        case there
        /// An earlier run fetched the URL, and this one ended before it asked again.
        case kept
        /// An earlier row has the same URL.
        case repeated
        case failed
        /// The run ended before the URL did.
        case pending
        case invalid
    }

    let outcome: Outcome
    /// `nil` for a URL whose job ended without a worker of this run.
    let record: JobRecord?
    /// Why the row is not a URL or has no record, if its content does not say it.
    let message: String?
    /// The class of a row whose job ended without a fetch.
    static let abandoned = "abandoned"
    private let lossClass: String
    /// Whether the record is of this run.
    private let isNew: Bool

    var hasDuration: Bool { outcome == .fetched || outcome == .revalidated || outcome == .failed }

    /// A failed row has one where the body of an earlier run has stayed.
    var hasBody: Bool { outcome == .failed ? record?.staleness != nil : outcome != .pending && outcome != .invalid }

    /// The error class of a failed row.
    var errorClass: String { record?.staleness?.errorClass ?? record?.errorClass ?? lossClass }

    init(
        _ outcome: Outcome, _ record: JobRecord? = nil, message: String? = nil, lossClass: String = abandoned, isNew: Bool? = nil
    ) {
        self.outcome = outcome
        self.isNew = isNew ?? (outcome == .fetched)
        self.record = record
        self.message = message
        self.lossClass = lossClass
    }

    fileprivate var name: String {
        switch outcome {
        case .fetched: "fetched"
        case .revalidated: "revalidated"
        case .there, .kept, .repeated: "cached"
        case .failed: "failed"
        case .pending: "pending"
        case .invalid: "invalid"
        }
    }

    /// The row against what the folder had before.
    enum Result: String {
        case new, changed, same, failed
    }

    /// Nil for a row that is no URL, or has not ended.
    var result: Result? {
        switch outcome {
        case .kept, .pending, .invalid: return nil
        case .failed: return .failed
        case .fetched, .revalidated, .there, .repeated:
            guard isNew, let record else { return .same }
            return record.lastDigest.map { $0 == record.digest ? .same : .changed } ?? .new
        }
    }
}
