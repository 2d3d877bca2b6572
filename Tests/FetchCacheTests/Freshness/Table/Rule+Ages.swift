@testable import FetchCache

extension Rule {
    /// For how long is it fresh, when it does not say?
    static let guesses: [Rule] = [
        Rule(
            section: "9111 4.2.2", sentence: "a tenth of the time for which it had not changed",
            answer: ["Date: {0}", "Last-Modified: {-6000}"],
            after: 599, outcome: .fresh),
        Rule(section: "9111 4.2.2", sentence: "and no longer", answer: ["Date: {0}", "Last-Modified: {-6000}"], after: 600, outcome: .ask),
        Rule(section: "9111 4.2.2", sentence: "at most a day", answer: ["Last-Modified: {-86400000}"], after: 86_399, outcome: .fresh),
        Rule(
            section: "9111 4.2.2", sentence: "and no longer than that", answer: ["Last-Modified: {-86400000}"], after: 86_400, outcome: .ask
        ),
        Rule(
            section: "9111 4.2.2", sentence: "both dates are by the origin's clock", answer: ["Date: {6000}", "Last-Modified: {0}"],
            after: 599,
            outcome: .fresh),
        Rule(
            section: "9110 8.8.2.1", sentence: "a change to come is none", answer: ["Date: {0}", "Last-Modified: {6000}"], after: 0,
            outcome: .ask),
        Rule(section: "9111 4.2.2", sentence: "a change that is no date is none", answer: ["Last-Modified: once"], after: 0, outcome: .ask),
        Rule(
            section: "9111 4.2.3", sentence: "a guess is eaten up by age, too",
            answer: ["Date: {0}", "Last-Modified: {-6000}", "Age: 600"], after: 0,
            outcome: .ask),
        Rule(
            section: "9111 4.2.2", sentence: "a query in the URL changes nothing", answer: ["Last-Modified: {-6000}"],
            url: "https://example.org/?q", after: 599, outcome: .fresh),
    ]

    /// How old was it when it came, and how old is it now?
    static let ages: [Rule] = [
        Rule(section: "9111 5.1", sentence: "Age counts", answer: ["Cache-Control: max-age=60", "Age: 50"], after: 9, outcome: .fresh),
        Rule(section: "9111 5.1", sentence: "to the second", answer: ["Cache-Control: max-age=60", "Age: 50"], after: 10, outcome: .ask),
        Rule(
            section: "9111 5.1", sentence: "Age counts for Expires", answer: ["Date: {0}", "Expires: {60}", "Age: 50"], after: 10,
            outcome: .ask),
        Rule(
            section: "9111 5.1", sentence: "an Age of no number is none", answer: ["Cache-Control: max-age=60", "Age: abc"], after: 30,
            outcome: .fresh),
        Rule(
            section: "9111 5.1", sentence: "nor is a negative one", answer: ["Cache-Control: max-age=60", "Age: -7200"], after: 30,
            outcome: .fresh),
        Rule(
            section: "9111 5.1", sentence: "nor a fraction", answer: ["Cache-Control: max-age=60", "Age: 7200.0"], after: 30,
            outcome: .fresh),
        Rule(
            section: "9111 5.1", sentence: "nor one with a parameter", answer: ["Cache-Control: max-age=60", "Age: 7200;a=b"], after: 30,
            outcome: .fresh),
        Rule(
            section: "9111 5.1", sentence: "of a list the first counts", answer: ["Cache-Control: max-age=60", "Age: 7200, 0"], after: 30,
            outcome: .ask),
        Rule(
            section: "9111 5.1", sentence: "and not the others", answer: ["Cache-Control: max-age=60", "Age: 0, 7200"], after: 30,
            outcome: .fresh),
        Rule(
            section: "9111 5.1", sentence: "of lines the first counts", answer: ["Cache-Control: max-age=60", "Age: 0", "Age: 7200"],
            after: 30, outcome: .fresh),
        Rule(
            section: "9111 1.2.2", sentence: "no Age is too great for its lifetime",
            answer: ["Cache-Control: max-age=99999999999", "Age: 99999999999999999999"],
            after: 0, outcome: .ask),
        Rule(
            section: "9111 4.2.3", sentence: "Date tells an age where no cache did", answer: ["Cache-Control: max-age=60", "Date: {-50}"],
            after: 10,
            outcome: .ask),
        Rule(
            section: "9111 4.2.3", sentence: "of both the greater counts, and not the sum",
            answer: ["Cache-Control: max-age=60", "Date: {-30}", "Age: 20"],
            after: 29, outcome: .fresh),
        Rule(
            section: "9111 4.2.3", sentence: "a Date to come is no age", answer: ["Cache-Control: max-age=60", "Date: {3600}"], after: 59,
            outcome: .fresh),
        Rule(
            section: "9111 4.2.3", sentence: "and no longer life", answer: ["Cache-Control: max-age=60", "Date: {3600}"], after: 60,
            outcome: .ask),
        Rule(
            section: "9110 6.6.1", sentence: "a Date that is none is when it came", answer: ["Cache-Control: max-age=60", "Date: 0"],
            after: 59,
            outcome: .fresh),
        Rule(
            section: "9111 4.2.3", sentence: "the time for which the fetch took counts", answer: ["Cache-Control: max-age=60"], took: 20,
            after: 40,
            outcome: .ask),
        Rule(
            section: "9111 4.2.3", sentence: "and is added to Age", answer: ["Cache-Control: max-age=60", "Age: 30"], took: 20, after: 10,
            outcome: .ask),
        Rule(
            section: "9111 4.2.3", sentence: "but not to what Date tells", answer: ["Cache-Control: max-age=60", "Date: {-20}"], took: 20,
            after: 39,
            outcome: .fresh),
        Rule(
            section: "9111 4.2.3", sentence: "a clock set back during the fetch makes it no younger",
            answer: ["Cache-Control: max-age=60", "Age: 50"],
            took: -3600, after: 10, outcome: .ask),
        Rule(
            section: "9110 5.6.7", sentence: "clocks of two machines differ a little", answer: ["Cache-Control: max-age=60"], after: -5,
            outcome: .fresh),
        Rule(
            section: "9110 5.6.7", sentence: "what comes from the future is of unknown age",
            answer: ["Cache-Control: max-age=60, stale-if-error=600"],
            after: -5.001, outcome: .ask),
    ]
}
