/// A moment as HTTP headers give it: `Date`, `Expires`, `Last-Modified`, `Retry-After`.
package struct HTTPDate: Sendable, Hashable {
    /// Counted without leap seconds; negative before 1970.
    package let secondsSince1970: Int64

    /// Reads one of the three formats of RFC 9110, section 5.6.7; nil when it is none of them or no day that ever was.
    ///
    /// The case of letters does not matter, as RFC 9111 wants it of caches (section 4.2). The day of the week must be one, but not the
    /// date's: what counts is the date.
    /// - Parameter now: In seconds since 1970; settles the century of the obsolete format that has two digits for the year.
    package init?(_ text: String, now: Int64) {
        var scanner = HTTPDateScanner(text)
        guard let fields = scanner.imfFixdate() ?? scanner.rfc850() ?? scanner.asctime(), let seconds = fields.seconds(now: now) else {
            return nil
        }
        secondsSince1970 = seconds
    }
}
