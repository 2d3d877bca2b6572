/// Whether a body that broke off can go on, and whether an answer is its rest (RFC 9110, sections 13.1.5 and 14). It does no IO.
///
/// A rest is asked for only where the origin named the exact bytes that it had begun to send, by a strong validator. Then the origin
/// either sends the rest of these bytes or says that they have changed.
struct BodyContinuation {
    /// The answer whose body broke off.
    struct Beginning {
        var status: Int
        var headers: ResponseHeaders
        /// The bytes of its body that came.
        var count: Int64
        /// The length that it announced.
        var total: Int64?
    }

    enum Verdict: Equatable {
        /// The answer has the bytes up to `end`, of `total`.
        case goesOn(end: Int64, of: Int64)
        /// The answer has the whole body, which may be another one by now.
        case beginsAnew
        case isNone
    }

    /// How often one transfer may ask for a rest.
    static let most = 8
    /// A request has to bring so many bytes before its rest is asked for. So an origin that breaks off each time is soon left alone.
    static let leastGain: Int64 = 64 << 10
    /// Before each request for a rest: the origin may be starting again. The transfer keeps its place meanwhile.
    static let pause = Duration.milliseconds(250)

    /// How often a rest was asked for.
    private(set) var count = 0
    /// The bytes that the last request could build on.
    private var start: Int64 = 0
    private var total: Int64?
    /// A tag with its quotes, or a date.
    private var validator: String?

    /// The headers that ask for the rest of the body; nil where it cannot be asked for.
    /// - Parameter now: In seconds since 1970.
    mutating func request(after beginning: Beginning, now: Int64) -> [HeaderField]? {
        let headers = beginning.headers
        guard count < Self.most, beginning.status == 200, beginning.count - start >= Self.leastGain,
            beginning.total.map({ beginning.count < $0 }) ?? true, headers.encodings().isEmpty,
            Self.permitsRanges(headers), let validator = Self.validator(of: headers, now: now),
            let range = HeaderField(name: "Range", value: "bytes=\(beginning.count)-"),
            let condition = HeaderField(name: "If-Range", value: validator)
        else { return nil }
        count += 1
        (start, total, self.validator) = (beginning.count, beginning.total, validator)
        return [range, condition]
    }

    /// Whether the answer to such a request has the rest, the whole or neither.
    func verdict(status: Int, headers: ResponseHeaders) -> Verdict {
        if status == 200 { return .beginsAnew }
        guard status == 206, headers.encodings().isEmpty,
            headers.encodings(of: "transfer-encoding").isEmpty, hasSameValidator(headers),
            let range = Self.contentRange(of: headers), range.first == start, total ?? range.total == range.total,
            Self.length(in: headers).map({ $0 == range.last - range.first + 1 }) ?? true
        else { return .isNone }
        return .goesOn(end: range.last + 1, of: range.total)
    }

    /// The body comes from its first byte again.
    mutating func beginsAnew() { start = 0 }

    /// Whether ranges of the body may be had, as far as the answer tells.
    private static func permitsRanges(_ headers: ResponseHeaders) -> Bool {
        !headers.values(of: "accept-ranges").contains { $0.trimmedOfBlanks.lowercased() == "none" }
    }

    /// The strong validator of an answer. A date is one only where there is no tag, and where the body was old when it was sent: two versions
    /// of one second have the same date.
    private static func validator(of headers: ResponseHeaders, now: Int64) -> String? {
        let tags = headers.values(of: "etag")
        if let tag = tags.first { return tags.count == 1 && isStrong(tag) ? tag : nil }
        let dates = headers.values(of: "last-modified")
        guard dates.count == 1, let text = dates.first, let modified = HTTPDate(text, now: now),
            let sent = headers["date"].flatMap({ HTTPDate($0, now: now) }),
            sent.secondsSince1970 - modified.secondsSince1970 >= leastAge
        else { return nil }
        return text
    }

    /// In seconds. The two dates may come from two clocks.
    private static let leastAge: Int64 = 60

    private static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        return bytes.count >= 2 && bytes.first == 0x22 && bytes.last == 0x22
            && bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || 0x23...0x7e ~= $0 }
    }

    /// Some origins leave the date of a part out, but not its tag.
    private func hasSameValidator(_ headers: ResponseHeaders) -> Bool {
        let tags = headers.values(of: "etag")
        guard let validator else { return false }
        if Self.isStrong(validator) { return tags == [validator] }
        return tags.isEmpty && headers.values(of: "last-modified").allSatisfy { $0 == validator }
    }

    /// `bytes 500-999/1000`. An unknown total is of no use.
    private static func contentRange(of headers: ResponseHeaders) -> (first: Int64, last: Int64, total: Int64)? {
        let values = headers.values(of: "content-range")
        guard values.count == 1, let value = values.first, value.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, ends.count == 2, let first = number(ends[0]), let last = number(ends[1]), let total = number(parts[1]),
            first <= last, last < total
        else { return nil }
        return (first, last, total)
    }

    private static func length(in headers: ResponseHeaders) -> Int64? {
        headers.values(of: "content-length").first.map { number(Substring($0)) ?? -1 }
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int64(text) : nil
    }
}
