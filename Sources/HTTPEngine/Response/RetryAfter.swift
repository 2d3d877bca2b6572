/// The `Retry-After` of an answer (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Longer waits are cut to this: a host that asks for a day is asked again in an hour, at little cost to it.
    package static let maximum: Duration = .seconds(3600)

    /// How long to wait, from 0 to `maximum`; nil when the value is neither a number of seconds nor a date.
    ///
    /// Digits are all that a number has: no sign, no fraction, no unit.
    /// - Parameter now: In seconds since 1970, against which a date is held; one that has passed is 0.
    package static func parse(_ value: String, now: Int64) -> Duration? {
        let value = value.trimmedOfBlanks
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a number can have are a long wait too.
            return Int64(value).map(wait) ?? maximum
        }
        guard let date = HTTPDate(value, now: now) else { return nil }
        let (seconds, isOver) = date.secondsSince1970.subtractingReportingOverflow(now)
        return isOver ? (now < 0 ? maximum : .zero) : wait(seconds)
    }

    private static func wait(_ seconds: Int64) -> Duration { min(max(.seconds(seconds), .zero), maximum) }
}
