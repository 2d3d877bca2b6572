@testable import GannetHTTP

extension Rule {
    /// For how long is it fresh, when it does not say?
    static let guesses: [Rule] = [
        row("9111 4.2.2", "a tenth of the time for which it had not changed", ["Date: {0}", "Last-Modified: {-6000}"], after: 599, .fresh),
        row("9111 4.2.2", "and no longer", ["Date: {0}", "Last-Modified: {-6000}"], after: 600, .ask),
        row("9111 4.2.2", "at most a day", ["Last-Modified: {-86400000}"], after: 86_399, .fresh),
        row("9111 4.2.2", "and no longer than that", ["Last-Modified: {-86400000}"], after: 86_400, .ask),
        row("9111 4.2.2", "both dates are by the origin's clock", ["Date: {6000}", "Last-Modified: {0}"], after: 599, .fresh),
        row("9110 8.8.2.1", "a change to come is none", ["Date: {0}", "Last-Modified: {6000}"], .ask),
        row("9111 4.2.2", "a change that is no date is none", ["Last-Modified: once"], .ask),
        row("9111 4.2.3", "a guess is eaten up by age, too", ["Date: {0}", "Last-Modified: {-6000}", "Age: 600"], .ask),
        row(
            "9111 4.2.2", "a query in the URL changes nothing", ["Last-Modified: {-6000}"], url: "https://example.org/?q", after: 599,
            .fresh),
    ]

    /// How old was it when it came, and how old is it now?
    static let ages: [Rule] = [
        row("9111 5.1", "Age counts", ["Cache-Control: max-age=60", "Age: 50"], after: 9, .fresh),
        row("9111 5.1", "to the second", ["Cache-Control: max-age=60", "Age: 50"], after: 10, .ask),
        row("9111 5.1", "Age counts for Expires", ["Date: {0}", "Expires: {60}", "Age: 50"], after: 10, .ask),
        row("9111 5.1", "an Age of no number is none", ["Cache-Control: max-age=60", "Age: abc"], after: 30, .fresh),
        row("9111 5.1", "nor is a negative one", ["Cache-Control: max-age=60", "Age: -7200"], after: 30, .fresh),
        row("9111 5.1", "nor a fraction", ["Cache-Control: max-age=60", "Age: 7200.0"], after: 30, .fresh),
        row("9111 5.1", "nor one with a parameter", ["Cache-Control: max-age=60", "Age: 7200;a=b"], after: 30, .fresh),
        row("9111 5.1", "of a list the first counts", ["Cache-Control: max-age=60", "Age: 7200, 0"], after: 30, .ask),
        row("9111 5.1", "and not the others", ["Cache-Control: max-age=60", "Age: 0, 7200"], after: 30, .fresh),
        row("9111 5.1", "of lines the first counts", ["Cache-Control: max-age=60", "Age: 0", "Age: 7200"], after: 30, .fresh),
        row(
            "9111 1.2.2", "no Age is too great for its lifetime", ["Cache-Control: max-age=99999999999", "Age: 99999999999999999999"], .ask),
        row("9111 4.2.3", "Date tells an age where no cache did", ["Cache-Control: max-age=60", "Date: {-50}"], after: 10, .ask),
        row(
            "9111 4.2.3", "of both the greater counts, and not the sum", ["Cache-Control: max-age=60", "Date: {-30}", "Age: 20"], after: 29,
            .fresh),
        row("9111 4.2.3", "a Date to come is no age", ["Cache-Control: max-age=60", "Date: {3600}"], after: 59, .fresh),
        row("9111 4.2.3", "and no longer life", ["Cache-Control: max-age=60", "Date: {3600}"], after: 60, .ask),
        row("9110 6.6.1", "a Date that is none is when it came", ["Cache-Control: max-age=60", "Date: 0"], after: 59, .fresh),
        row("9111 4.2.3", "the time for which the fetch took counts", ["Cache-Control: max-age=60"], took: 20, after: 40, .ask),
        row("9111 4.2.3", "and is added to Age", ["Cache-Control: max-age=60", "Age: 30"], took: 20, after: 10, .ask),
        row("9111 4.2.3", "but not to what Date tells", ["Cache-Control: max-age=60", "Date: {-20}"], took: 20, after: 39, .fresh),
        row(
            "9111 4.2.3", "a clock set back during the fetch makes it no younger", ["Cache-Control: max-age=60", "Age: 50"], took: -3600,
            after: 10, .ask),
        row("9110 5.6.7", "clocks of two machines differ a little", ["Cache-Control: max-age=60"], after: -5, .fresh),
        row(
            "9110 5.6.7", "what comes from the future is of unknown age", ["Cache-Control: max-age=60, stale-if-error=600"], after: -5.001,
            .ask),
    ]
}
