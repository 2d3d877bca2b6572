import GannetHTTP
import Glibc

extension FuzzTarget {
    /// The input is header lines; the last line is also taken alone, as the value of a header.
    static let headers = FuzzTarget(name: "headers", maximumLength: 1024) {
        [
            "Content-Encoding: gzip, br\r\nContent-Type: text/html\r\n", "content-encoding : x-gzip\r\n\tidentity,,zstd\r\n",
            "X-Name: value with \u{e9} and \t", "Authorization: Basic dTpw", "Retry-After: 120", "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Fri, 31 Dec 1999 23:59:60 GMT", "Thu, 29 Feb 2024 00:00:00 GMT",
            "000000000000000000000000000000005", "99999999999999999999",
        ].map { Array($0.utf8) }
    } check: { (input) throws(BrokenInvariant) in
        let text = String(decoding: input, as: UTF8.self)
        try checkField(text)
        let value = String(text.split(separator: "\n", omittingEmptySubsequences: false).last ?? "")
        try checkRetryAfter(value)
        try checkDate(value)
        try checkEncodings(ResponseHeaders(lines: input))
    }

    private static func checkField(_ text: String) throws(BrokenInvariant) {
        let name = String(text.prefix { $0 != ":" })
        let value = String(text.dropFirst(name.count + 1))
        guard let field = HeaderField(name: name, value: value) else { return }
        try require(field.name == name && field.value.utf8.elementsEqual(trimmed(value)), "the field is another")
        try require(!name.isEmpty && name.utf8.allSatisfy { 0x21...0x7e ~= $0 && $0 != UInt8(ascii: ":") }, "the name \(name) is no token")
        try require(!value.utf8.contains { $0 == 0 || $0 == 0x0a || $0 == 0x0d || $0 == 0x7f }, "the value can end its line")
        let framing = ["host", "content-length", "transfer-encoding", "connection", "te", "upgrade", "accept-encoding"]
        try require(!framing.contains(name.lowercased()), "\(name) is the engine's")
        let shouted = HeaderField(name: name.uppercased(), value: value)
        try require(shouted?.isCredential == field.isCredential, "\(name) is a credential or not by its case")
    }

    private static func trimmed(_ value: String) -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        return value.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
    }

    private static func checkEncodings(_ headers: ResponseHeaders) throws(BrokenInvariant) {
        for name in ["content-encoding", "Retry-After", "x"] {
            let values = headers.values(of: name)
            try require(headers[name] == values.first, "the first of \(values) is another")
            try require(!values.contains { $0.utf8.contains(0x0a) }, "a value of \(name) has a line break")
        }
        let names = headers.encodings()
        try require(names.count <= 5 && !names.contains { $0.isEmpty || $0.count > 40 || $0.contains(",") }, "encodings \(names)")
        let areKnown = names.allSatisfy { ContentCoding(name: $0) != nil } && names.count <= ContentDecoder.maximumEncodings
        let decoder = try? ContentDecoder(encodings: names, intermediateLimit: 1)
        try require((decoder != nil) == areKnown, "\(names) are \(decoder == nil ? "refused" : "taken")")
    }

    private static func checkRetryAfter(_ value: String) throws(BrokenInvariant) {
        let now: Int64 = 784_111_777
        let wait = RetryAfter.parse(value, now: now)
        if let wait { try require(wait >= .zero && wait <= RetryAfter.maximum, "a wait of \(wait)") }
        let isNumber = value.utf8.first.map { 0x30...0x39 ~= $0 } ?? false
        if isNumber { try require(RetryAfter.parse("0" + value, now: now) == wait, "a leading zero makes another wait") }
        try require(RetryAfter.parse(" \(value)\t", now: now) == wait, "blanks make another wait")
    }

    private static func checkDate(_ value: String) throws(BrokenInvariant) {
        guard let date = HTTPDate(value, now: 0) else { return }
        // The C library's calendar computes the date again.
        var seconds = time_t(date.secondsSince1970)
        var fields = tm()
        try require(gmtime_r(&seconds, &fields) != nil, "\(seconds) is no date")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let year = padded(fields.tm_year + 1900, to: 4)
        let time = [fields.tm_hour, fields.tm_min, fields.tm_sec].map { padded($0, to: 2) }.joined(separator: ":")
        let again = "Sun, \(padded(fields.tm_mday, to: 2)) \(months[Int(fields.tm_mon)]) \(year) \(time) GMT"
        // A leap second at the end of the last year that has four digits is beyond them.
        guard year.count == 4 else { return }
        try require(HTTPDate(again, now: 0) == date, "\(value.debugDescription) is \(again)")
        // The servers' usual format gives the same text again, except for the day of the week and a leap second.
        guard value.utf8.count == again.utf8.count, value.contains(","), !value.contains(":60 ") else { return }
        try require(value.lowercased().dropFirst(5) == again.lowercased().dropFirst(5), "\(value.debugDescription) is \(again)")
    }

    private static func padded(_ number: Int32, to count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(count - digits.count, 0)) + digits
    }
}
