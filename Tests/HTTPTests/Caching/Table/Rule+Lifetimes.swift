@testable import GannetHTTP

extension Rule {
    /// For how long is it fresh, by what it says?
    static let lifetimes: [Rule] = [
        row("9111 4.2", "fresh until its age is its lifetime", ["Cache-Control: max-age=60"], after: 59.999, .fresh),
        row("9111 4.2", "and not when it is", ["Cache-Control: max-age=60"], after: 60, .ask),
        row("9111 5.2.2.1", "a lifetime of nothing", ["Cache-Control: max-age=0"], .ask),
        row("9111 5.2.2.10", "s-maxage goes before max-age", ["Cache-Control: max-age=1, s-maxage=60"], after: 30, .fresh),
        row("9111 5.2.2.10", "also when it is shorter", ["Cache-Control: s-maxage=1", "Cache-Control: max-age=60"], after: 30, .ask),
        row("9111 4.2.1", "also when it is no number", ["Cache-Control: s-maxage=x, max-age=60"], .ask),
        row("9111 5.3", "max-age goes before Expires", ["Cache-Control: max-age=60", "Expires: {-60}"], after: 30, .fresh),
        row("9111 5.3", "also before one that is no date", ["Cache-Control: max-age=60", "Expires: 0"], after: 30, .fresh),
        row("9111 5.3", "also when it is shorter", ["Cache-Control: max-age=0", "Expires: {60}"], .ask),
        row("9111 5.3", "also when it is no number", ["Cache-Control: max-age=x", "Expires: {60}"], .ask),

        row("9111 5.3", "Expires", ["Date: {0}", "Expires: {60}"], after: 59, .fresh),
        row("9111 5.3", "Expires has passed", ["Date: {0}", "Expires: {60}"], after: 60, .ask),
        row("9111 5.3", "it is over at once", ["Date: {0}", "Expires: {0}"], .ask),
        row("9111 4.2.1", "Expires and Date are by one clock, which may be fast", ["Date: {3600}", "Expires: {3660}"], after: 60, .ask),
        row("9111 4.2.1", "and then Expires is no time of ours", ["Date: {400}", "Expires: {300}"], .ask),
        row("9111 4.2.1", "without Date it is counted from when it came", ["Expires: {60}"], after: 59, .fresh),
        row("9110 6.6.1", "and so it is where Date is none", ["Date: yesterday", "Expires: {60}"], after: 59, .fresh),
        row("9111 5.3", "0 is a time in the past", ["Expires: 0"], .ask),
        row("9111 5.3", "and so is -1", ["Expires: -1"], .ask),
        row("9111 4.2", "a zone other than GMT makes it none", ["Expires: Sat, 01 Jun 2050 00:00:00 CET"], .ask),
        row("9111 4.2", "letters may be in any case", ["Expires: SAT, 01 jun 2050 00:00:00 gmt"], after: 86_400, .fresh),
        row("9110 5.6.7", "the format of RFC 850", ["Expires: Wednesday, 01-Jun-50 00:00:00 GMT"], after: 86_400, .fresh),
        row("9110 5.6.7", "the format of asctime", ["Expires: Wed Jun  1 00:00:00 2050"], after: 86_400, .fresh),
        row("9110 5.6.7", "two digits 50 years on are a hundred years less", ["Expires: Friday, 01-Jun-75 00:00:00 GMT"], .ask),
        row("9111 4.2.1", "two that differ are none", ["Expires: {60}", "Expires: {90}"], .ask),
        row("9110 5.3", "two that are the same are one", ["Expires: {60}", "Expires: {60}"], after: 30, .fresh),
        row("9111 4.2.1", "nothing is guessed where something was said", ["Expires: 0", "Last-Modified: {-864000}"], .ask),
        row("9111 5.4", "Pragma says nothing in an answer", ["Cache-Control: max-age=60", "Pragma: no-cache"], after: 30, .fresh),
    ]

    /// What is a directive, and what is its number?
    static let directives: [Rule] =
        [
            ("9111 4.2.1", "two numbers are none", "max-age=1800, max-age=60", .ask),
            ("9111 4.2.1", "in either order", "max-age=60, max-age=1800", .ask),
            ("9111 4.2.1", "the same one twice is one", "max-age=60, max-age=60", .fresh),
            ("9111 1.2.2", "a fraction is no number", "max-age=3600.0", .ask),
            ("9111 1.2.2", "nor is a letter before it", "max-age=a3600", .ask),
            ("9111 1.2.2", "nor a letter behind it", "max-age=3600a", .ask),
            ("9111 1.2.2", "nor a sign", "max-age=-3600", .ask),
            ("9111 1.2.2", "of either kind", "max-age=+3600", .ask),
            ("9111 1.2.2", "nor nothing", "max-age=", .ask),
            ("9111 5.2.2.1", "nor its want", "max-age", .ask),
            ("9111 1.2.2", "nor single quotes", "max-age='3600'", .ask),
            ("9111 1.2.2", "zeros before it are as good as none", "max-age=003600", .fresh),
            ("9111 1.2.2", "what a number cannot hold is forever", "max-age=2147483649", .fresh),
            ("9111 1.2.2", "however long it is", "max-age=99999999999999999999999999", .fresh),
            ("9111 5.2", "quotes are read where none should be", "max-age=\"3600\"", .fresh),
            ("9111 5.2", "with escapes", "max-age=\"36\\00\"", .fresh),
            ("9111 5.2", "but not with something behind them", "max-age=\"3600\"0", .ask),
            ("9111 5.2", "blanks before the equals sign", "max-age =3600", .ask),
            ("9111 5.2", "blanks behind the equals sign", "max-age= 3600", .ask),
            ("9111 5.2", "names in any case", "MaX-aGe=3600", .fresh),
            ("9111 5.2.3", "what is unknown is passed over", "foobar, max-age=3600, x=\"y, z\"", .fresh),
            ("9110 5.6.1", "empty members are none", ", ,max-age=3600,,", .fresh),
            ("9110 5.6.4", "what is quoted is no directive", "x=\"max-age=3600\", max-age=1", .ask),
            ("9110 5.6.4", "before or behind", "max-age=1, x=\"max-age=3600\"", .ask),
            ("9110 5.6.4", "not even no-store", "x=\"no-store\", max-age=3600", .fresh),
            ("9110 5.6.4", "an escaped quote ends nothing", "x=\"a\\\", no-store\", max-age=3600", .fresh),
            ("9111 4.2.1", "a quote without an end makes all doubtful", "max-age=3600, x=\"a", .ask),
            ("9111 5.2.2.5", "and hides nothing that follows", "max-age=3600, x=\"a, no-store", .notKept(.noStore)),
            ("9111 5.2.2.4", "no-cache", "no-cache", .ask),
            ("9111 5.2.2.4", "no-cache beside a lifetime", "max-age=3600, No-CaChE", .ask),
            ("9111 5.2.2.4", "no-cache for headers that are not kept", "max-age=3600, no-cache=\"Set-Cookie\"", .fresh),
            ("9111 5.2.2.4", "no-cache for none", "max-age=3600, no-cache=\"\"", .ask),
            ("9111 5.2.2.4", "no-cache for those that decide", "max-age=3600, no-cache=\"cache-control\"", .ask),
            ("9111 5.2.2.4", "no-cache both ways", "max-age=3600, no-cache=\"a\", no-cache", .ask),
        ].map { (section: String, sentence: String, value: String, outcome: Outcome) in
            row(section, sentence, ["Cache-Control: \(value)"], after: 30, outcome)
        }
}
