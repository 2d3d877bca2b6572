/// Reads the text of a date from its beginning, in whatever case; each format is tried on the whole of it.
struct HTTPDateScanner {
    private let bytes: [UInt8]
    private var index = 0

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// The text may have blanks around it, as the value of a header.
    init(_ text: String) {
        bytes = text.trimmedOfBlanks.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    mutating func imfFixdate() -> HTTPDateFields? {
        index = 0
        guard name(Self.days) != nil, skip(", "), let day = number(2), skip(" "), let month = name(Self.months), skip(" "),
            let year = number(4), skip(" "), let time = timeOfDay(), skip(" gmt"), isAtEnd
        else { return nil }
        return fields(year, true, month, day, time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    mutating func rfc850() -> HTTPDateFields? {
        index = 0
        guard name(Self.longDays) != nil, skip(", "), let day = number(2), skip("-"), let month = name(Self.months), skip("-"),
            let year = number(2), skip(" "), let time = timeOfDay(), skip(" gmt"), isAtEnd
        else { return nil }
        return fields(year, false, month, day, time)
    }

    /// `Sun Nov  6 08:49:37 1994`
    mutating func asctime() -> HTTPDateFields? {
        index = 0
        guard name(Self.days) != nil, skip(" "), let month = name(Self.months), skip(" "), let day = skip(" ") ? number(1) : number(2),
            skip(" "), let time = timeOfDay(), skip(" "), let year = number(4), isAtEnd
        else { return nil }
        return fields(year, true, month, day, time)
    }

    private func fields(
        _ year: Int, _ yearHasCentury: Bool, _ month: Int, _ day: Int, _ time: (hour: Int, minute: Int, second: Int)
    ) -> HTTPDateFields {
        HTTPDateFields(
            year: year, yearHasCentury: yearHasCentury, month: month + 1, day: day, hour: time.hour, minute: time.minute,
            second: time.second)
    }

    private var isAtEnd: Bool { index == bytes.count }

    private mutating func timeOfDay() -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2) else { return nil }
        return (hour, minute, second)
    }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[index...].starts(with: text.utf8) else { return false }
        index += text.utf8.count
        return true
    }

    private mutating func number(_ digits: Int) -> Int? {
        guard index + digits <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[index..<index + digits] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        index += digits
        return value
    }

    private mutating func name(_ names: [String]) -> Int? {
        names.firstIndex { skip($0) }
    }
}
