import Testing

@testable import GannetHTTP

@Suite struct HTTPDateTests {
    /// 2024-06-01 00:00:00
    private static let now: Int64 = 1_717_200_000

    /// The seconds are what `date -u -d … +%s` answers.
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Sun, 28 Feb 2100 23:59:59 GMT", 4_107_542_399),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Sun, 01 Jan 2017 00:00:00 GMT", 1_483_228_800),
            // The day of the week is not the date's.
            ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            (" \tSun, 06 Nov 1994 08:49:37 GMT \t", 784_111_777),
            // In whatever case.
            ("SUN, 06 nov 1994 08:49:37 gMT", 784_111_777),
            ("sunday, 06-NOV-94 08:49:37 gmt", 784_111_777),
            ("sUN nOV  6 08:49:37 1994", 784_111_777),
        ] as [(String, Int64)])
    func `a date in one of HTTP's three formats is its second`(text: String, seconds: Int64) {
        #expect(HTTPDate(text, now: Self.now)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "", "yesterday", "0", "784111777",
        // Days that never were.
        "Mon, 29 Feb 2100 00:00:00 GMT", "Wed, 29 Feb 2023 00:00:00 GMT", "Wed, 30 Feb 2024 00:00:00 GMT", "Sun, 31 Apr 1994 00:00:00 GMT",
        "Sun, 31 Jun 1994 00:00:00 GMT", "Sun, 31 Sep 1994 00:00:00 GMT", "Sun, 31 Nov 1994 00:00:00 GMT", "Sun, 32 Jan 1994 00:00:00 GMT",
        "Sun, 00 Nov 1994 00:00:00 GMT", "Sun Nov  0 08:49:37 1994",
        // Times that never were.
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:60 GMT", "Sun, 06 Nov 1994 23:59:61 GMT",
        // Almost one of the formats.
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT;",
        "Sun,06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 94", "Sun Nov   6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 GM", "Sun, 06 Nov 199", "Sun, 06 Xxx 1994 08:49:37 GMT", "Day, 06 Nov 1994 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 0６ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT\r\n",
        "Sun, 06 Nov 1994 08:49:37 GMT\0", "So, 06 Nov 1994 08:49:37 GMT", "dimanche, 06-nov-94 08:49:37 GMT",
    ])
    func `anything else is no date`(text: String) {
        #expect(HTTPDate(text, now: Self.now) == nil)
    }

    @Test(arguments: [
        // Now, a year in two digits, the year that is meant.
        ("Sat, 01 Jun 2024 00:00:00 GMT", "94", 1994), ("Sat, 01 Jun 2024 00:00:00 GMT", "24", 2024),
        ("Sat, 01 Jun 2024 00:00:00 GMT", "23", 2023), ("Sat, 01 Jun 2024 00:00:00 GMT", "73", 2073),
        ("Sat, 01 Jun 2024 00:00:00 GMT", "75", 1975), ("Sat, 01 Jun 2024 00:00:00 GMT", "00", 2000),
        // 50 years are 18,262.125 days, to the second.
        ("Fri, 31 May 2024 20:59:59 GMT", "74", 1974), ("Fri, 31 May 2024 21:00:00 GMT", "74", 2074),
        ("Tue, 01 Jan 1980 00:00:00 GMT", "05", 2005), ("Tue, 01 Jan 1980 00:00:00 GMT", "79", 1979),
        ("Thu, 01 Jan 2099 00:00:00 GMT", "01", 2101), ("Thu, 01 Jan 2099 00:00:00 GMT", "98", 2098),
    ])
    func `two digits are the year at most 50 years ahead`(now: String, digits: String, year: Int) throws {
        let now = try #require(HTTPDate(now, now: 0)).secondsSince1970
        #expect(HTTPDate("Friday, 01-Jun-\(digits) 00:00:00 GMT", now: now) == HTTPDate("Fri, 01 Jun \(year) 00:00:00 GMT", now: now))
    }

    @Test func `every day from 1600 to 2400 is one after the day before`() throws {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        var expected: Int64 = -11_676_096_000
        for year in 1600...2400 {
            let isLeap = year.isMultiple(of: 400) || year.isMultiple(of: 4) && !year.isMultiple(of: 100)
            for (month, length) in zip(months, lengths) {
                let length = month == "Feb" && isLeap ? 29 : length
                // The first and the last days are where a calendar goes wrong.
                for day in [1, 2, length - 1, length] {
                    let date = HTTPDate("Sun, \(two(day)) \(month) \(year) 00:00:00 GMT", now: 0)
                    #expect(date?.secondsSince1970 == expected + Int64(day - 1) * 86_400, "\(day) \(month) \(year)")
                }
                #expect(HTTPDate("Sun, \(two(length + 1)) \(month) \(year) 00:00:00 GMT", now: 0) == nil)
                expected += Int64(length) * 86_400
            }
        }
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func `no clock is too wrong for it`(now: Int64) {
        #expect(HTTPDate("Sunday, 06-Nov-94 08:49:37 GMT", now: now)?.secondsSince1970 ?? 0 >= -62_167_219_200)
    }
}
