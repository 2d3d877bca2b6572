internal import HTTPEngine

/// How old an answer was when it came (RFC 9111, section 4.2.3).
enum AnswerAge {
    /// The corrected initial age: never negative, and rather too great than too small.
    static func corrected(_ headers: ResponseHeaders, requestedAt: Moment, receivedAt: Moment) -> Duration {
        // `Date` drops the fraction of its second, so of what seems to be the age a fraction means nothing either.
        let apparent = date(of: headers, receivedAt: receivedAt).map { max(.zero, (receivedAt - Moment($0)).wholeSeconds) } ?? .zero
        // A clock that was set back meanwhile makes no time pass backwards.
        let delay = max(.zero, receivedAt - requestedAt)
        return max(apparent, .seconds(told(by: headers)) + delay)
    }

    /// `Age`, or 0: the first member of the first line counts, and what is no number does not (RFC 9111, section 5.1).
    private static func told(by headers: ResponseHeaders) -> Int64 {
        guard headers.has("age"), let line = headers["age"], let first = line.split(separator: ",", maxSplits: 1).first else { return 0 }
        return DeltaSeconds.parse(String(first).trimmedOfBlanks) ?? 0
    }

    /// `Date`, unless it is missing or none.
    static func date(of headers: ResponseHeaders, receivedAt: Moment) -> HTTPDate? {
        guard headers.has("date") else { return nil }
        return headers["date"].flatMap { HTTPDate($0, now: receivedAt.secondsSince1970) }
    }
}

extension Duration {
    fileprivate var wholeSeconds: Duration { .seconds(components.seconds) }
}
