/// A moment as HTTP headers give it: `Date`, `Expires`, `Last-Modified`, `Retry-After`.
package struct HTTPDate: Sendable, Hashable {
    /// Counted without leap seconds; negative before 1970.
    package let secondsSince1970: Int64

    /// Reads one of the three formats of RFC 9110, section 5.6.7; nil when it is none of them or no day that ever was.
    ///
    /// The case of letters does not matter, as RFC 9111 wants it of caches (section 4.2). The day of the week must be one, but not the
    /// date's: the date counts.
    /// - Parameter now: In seconds since 1970; settles the century of the obsolete format that has two digits for the year.
    package init?(_ text: String, now: Int64) {
        let text = text.trimmedOfBlanks.utf8.map(\.lowercased)
        for format in Self.formats {
            if let fields = DateFields(text[...], format) {
                guard let seconds = fields.seconds(now: now) else { return nil }
                secondsSince1970 = seconds
                return
            }
        }
        return nil
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. Small letters stand for themselves.
    private static let formats: [StaticString] = ["W, D M Y H:I:S gmt", "L, D-M-T H:I:S gmt", "W M E H:I:S Y"]
}

/// A date and a time of day as they were written.
private struct DateFields {
    private var year = 0
    private var yearHasCentury = true
    /// From 1 to 12.
    private var month = 0
    private var day = 0
    private var hour = 0
    private var minute = 0
    private var second = 0

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Nil unless the whole text, in small letters, has the format.
    init?(_ text: ArraySlice<UInt8>, _ format: StaticString) {
        var rest = text
        func number(_ digits: Int) -> Int? {
            let part = rest.prefix(digits)
            guard part.count == digits, part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return part.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        func name(of names: [String]) -> Int? {
            guard let index = names.firstIndex(where: { rest.starts(with: $0.utf8) }) else { return nil }
            rest = rest.dropFirst(names[index].utf8.count)
            return index
        }
        func read(_ letter: UInt8) -> Bool {
            switch letter {
            case UInt8(ascii: "W"): return name(of: Self.days) != nil
            case UInt8(ascii: "L"): return name(of: Self.longDays) != nil
            case UInt8(ascii: "M"): month = 1 + (name(of: Self.months) ?? -1)
            case UInt8(ascii: "Y"): year = number(4) ?? -1
            case UInt8(ascii: "T"):
                year = number(2) ?? -1
                yearHasCentury = false
            case UInt8(ascii: "D"): day = number(2) ?? -1
            case UInt8(ascii: "E"):
                // A day of one digit has a second blank before it.
                let isShort = rest.first == 0x20
                if isShort { rest.removeFirst() }
                day = number(isShort ? 1 : 2) ?? -1
            case UInt8(ascii: "H"): hour = number(2) ?? -1
            case UInt8(ascii: "I"): minute = number(2) ?? -1
            case UInt8(ascii: "S"): second = number(2) ?? -1
            default: return rest.popFirst() == letter
            }
            return true
        }
        for letter in UnsafeBufferPointer(start: format.utf8Start, count: format.utf8CodeUnitCount) where !read(letter) { return nil }
        guard rest.isEmpty, month > 0, min(year, day, hour, minute, second) >= 0 else { return nil }
    }

    /// A date without a century may be at most this far ahead: 50 years, as RFC 9110 has it.
    private static let farthest: Int64 = 50 * 31_556_952

    func seconds(now: Int64) -> Int64? {
        // A leap second is the last of its day, and the same as the first of the next.
        guard hour < 24, minute < 60, second < 60 || (second == 60 && minute == 59 && hour == 23) else { return nil }
        guard !yearHasCentury else { return seconds(year: year) }
        let (limit, isOver) = now.addingReportingOverflow(Self.farthest)
        let years = stride(from: 9900 + year, through: year, by: -100)
        return years.first { isOver || days(year: $0) * 86_400 + secondOfDay <= limit }.flatMap(seconds)
    }

    private var secondOfDay: Int64 { Int64(hour * 3600 + minute * 60 + second) }

    private func seconds(year: Int) -> Int64? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let length =
            switch month {
            case 2: isLeap ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        return (1...length).contains(day) ? days(year: year) * 86_400 + secondOfDay : nil
    }

    /// Days since 1970 in the Gregorian calendar.
    private func days(year: Int) -> Int64 {
        // Counted from 1 March of the year 0 (or of 400 years before), so that a leap day is the last of its year.
        let year = (month > 2 ? year : year - 1) + 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return Int64(year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468 - 146_097)
    }
}

/// The `Retry-After` of an answer (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Longer waits are cut to this: a host that asks for a day is asked again in an hour, at little cost to it.
    package static let maximum: Duration = .seconds(3600)

    /// How long to wait, from 0 to `maximum`; nil when the value is neither a number of seconds nor a date.
    ///
    /// A number has digits only: no sign, no fraction, no unit.
    /// - Parameter now: In seconds since 1970, for the distance of a date; a date that has passed is 0.
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
