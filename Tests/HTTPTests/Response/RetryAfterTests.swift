import Testing

@testable import GannetHTTP

@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    private static let now: Int64 = 784_111_777

    @Test(arguments: [
        ("0", 0), ("1", 1), ("120", 120), ("007", 7), ("000", 0), ("  30", 30), ("30\t ", 30), ("3599", 3599), ("3600", 3600),
        ("3601", 3600),
        ("86400", 3600), ("9223372036854775807", 3600), ("9223372036854775808", 3600), (String(repeating: "9", count: 10_000), 3600),
        (String(repeating: "0", count: 10_000) + "5", 5),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:49:38 GMT", 1), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60), (" Sun, 06 Nov 1994 08:50:37 GMT ", 60),
        ("Sun, 06 Nov 1994 09:49:37 GMT", 3600), ("Sun, 06 Nov 1994 09:49:38 GMT", 3600), ("Fri, 31 Dec 9999 23:59:59 GMT", 3600),
        ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sat, 01 Jan 0000 00:00:00 GMT", 0),
    ])
    func `a wait is in seconds or until a date, and at most an hour`(value: String, seconds: Int) {
        #expect(RetryAfter.parse(value, now: Self.now) == .seconds(seconds))
    }

    @Test(arguments: [
        "", " ", "+5", "-5", "1.5", "1e3", "0x10", "5s", "5 seconds", "1 2", "5,", "5, 10", "\"5\"", "５", "٣", "½", "soon", "1\0", "12\n",
        "1_000",
        "Sun, 06 Nov 1994 08:50:37", "Sun, 31 Nov 1994 08:50:37 GMT", "5; Sun, 06 Nov 1994 08:50:37 GMT",
    ])
    func `anything else is no wait`(value: String) {
        #expect(RetryAfter.parse(value, now: Self.now) == nil)
    }

    @Test(arguments: [(Int64.min, Duration.seconds(3600)), (Int64.max, .zero)])
    func `no clock is too wrong for it`(now: Int64, wait: Duration) {
        #expect(RetryAfter.parse("Sun, 06 Nov 1994 08:50:37 GMT", now: now) == wait)
    }
}
