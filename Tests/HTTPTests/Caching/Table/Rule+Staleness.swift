@testable import GannetHTTP

extension Rule {
    /// What is it good for when it is stale?
    static let staleness: [Rule] =
        [
            ("5861 3", "while somebody asks it may be used", "max-age=60, stale-while-revalidate=30", 89.9, .staleWhileRevalidate),
            ("5861 3", "before that it is fresh", "max-age=60, stale-while-revalidate=30", 59, .fresh),
            ("5861 3", "behind that it is not used", "max-age=60, stale-while-revalidate=30", 90, .ask),
            ("5861 3", "also where it was stale from the start", "max-age=0, stale-while-revalidate=30", 0, .staleWhileRevalidate),
            ("5861 3", "a permission that is no number is none", "max-age=60, stale-while-revalidate=x", 61, .ask),
            ("9111 4.2.1", "nor are two different ones", "max-age=60, stale-while-revalidate=30, stale-while-revalidate=60", 61, .ask),
            ("9111 5.2.2.2", "must-revalidate forbids it", "max-age=60, stale-while-revalidate=30, must-revalidate", 61, .ask),
            ("9111 5.2.2.8", "proxy-revalidate forbids it", "max-age=60, stale-while-revalidate=30, proxy-revalidate", 61, .ask),
            ("9111 5.2.2.10", "s-maxage forbids it", "s-maxage=60, stale-while-revalidate=30", 61, .ask),
            ("9111 4.2.4", "no-cache forbids it", "max-age=60, stale-while-revalidate=30, no-cache", 1, .ask),
            ("5861 4", "when the origin fails it may be used", "max-age=60, stale-if-error=30", 89.9, .askOrStale),
            ("5861 4", "behind that it is not", "max-age=60, stale-if-error=30", 90, .ask),
            ("5861 4", "both together", "max-age=60, stale-while-revalidate=10, stale-if-error=30", 75, .askOrStale),
            ("5861 4", "a permission that is no number permits nothing", "max-age=60, stale-if-error=-30", 61, .ask),
            ("9111 4.2.4", "not by default", "max-age=60", 61, .ask),
            ("9111 5.2.2.2", "must-revalidate forbids that, too", "max-age=60, stale-if-error=30, must-revalidate", 61, .ask),
            ("9111 5.2.2.8", "and proxy-revalidate", "max-age=60, stale-if-error=30, proxy-revalidate", 61, .ask),
            ("9111 5.2.2.10", "and s-maxage", "s-maxage=60, stale-if-error=30", 61, .ask),
            ("9111 5.2.2.4", "and no-cache", "max-age=60, stale-if-error=30, no-cache", 1, .ask),
            ("9111 5.2.2.2", "what must be asked for is fresh before", "max-age=60, must-revalidate", 59, .fresh),
            ("8246 2", "what does not change is asked for when it is stale", "max-age=60, immutable", 61, .ask),
        ].map { (section: String, sentence: String, value: String, after: Double, outcome: Outcome) in
            row(section, sentence, ["Cache-Control: \(value)"], after: after, outcome)
        }

    /// What does the request want?
    static let requests: [Rule] =
        [
            ("9111 5.2.1.1", "an age that will do", "max-age=60", "max-age=30", 30, .fresh),
            ("9111 5.2.1.1", "an age that will not", "max-age=60", "max-age=30", 30.001, .ask),
            ("9111 5.2.1.1", "no age will do", "max-age=60", "max-age=0", 1, .ask),
            ("9111 5.2.1.1", "a number that is none is the strictest", "max-age=60", "max-age=x", 1, .ask),
            ("9111 5.2.1.1", "who limits the age wants nothing stale", "max-age=10, stale-while-revalidate=60", "max-age=30", 20, .ask),
            ("9111 5.2.1.1", "but with max-stale", "max-age=10", "max-age=30, max-stale=60", 20, .stale),
            ("9111 5.2.1.1", "within the age", "max-age=10", "max-age=30, max-stale=60", 31, .ask),
            ("5861 4", "what is too old is so after an error, too", "max-age=10, stale-if-error=60", "max-age=30", 31, .ask),
            ("8246 2", "what does not change is never too old", "max-age=60, immutable", "max-age=30", 31, .fresh),
            ("9111 5.2.1.2", "a staleness that will do", "max-age=60", "max-stale=30", 90, .stale),
            ("9111 5.2.1.2", "a staleness that will not", "max-age=60", "max-stale=30", 90.001, .ask),
            ("9111 5.2.1.2", "any staleness", "max-age=60", "max-stale", 999_999, .stale),
            ("9111 5.2.1.2", "a staleness that is no number", "max-age=60", "max-stale=x", 61, .ask),
            ("9111 5.2.1.2", "less than the origin permits", "max-age=60, stale-while-revalidate=60", "max-stale=30", 91, .ask),
            ("9111 5.2.2.2", "must-revalidate goes before it", "max-age=60, must-revalidate", "max-stale", 61, .ask),
            ("9111 5.2.2.10", "and so does s-maxage", "s-maxage=60", "max-stale", 61, .ask),
            ("9111 5.2.2.4", "and no-cache", "max-age=60, no-cache", "max-stale", 1, .ask),
            ("9111 5.2.1.3", "it stays fresh long enough", "max-age=60", "min-fresh=20", 40, .fresh),
            ("9111 5.2.1.3", "it does not", "max-age=60", "min-fresh=20", 40.001, .askOrStale),
            ("9111 5.2.1.3", "who wants it fresh for long wants none that is stale", "max-age=60", "min-fresh=20, max-stale", 61, .ask),
            ("9111 5.2.1.3", "nor one behind which is asked", "max-age=60, stale-while-revalidate=30", "min-fresh=1", 61, .ask),
            ("9111 5.2.1.3", "a freshness that is no number is the strictest", "max-age=60", "min-fresh=x", 0, .askOrStale),
            ("9111 5.2.1.4", "nothing that was not confirmed", "max-age=60", "no-cache", 1, .ask),
            ("9111 5.2.1.4", "not after an error either", "max-age=60, stale-if-error=60", "no-cache", 1, .ask),
            ("8246 2.1", "not even what does not change", "max-age=60, immutable", "no-cache", 1, .ask),
            ("9111 5.2.1.7", "only what is kept: there it is", "max-age=60", "only-if-cached", 59, .fresh),
            ("9111 5.2.1.7", "only what is kept: it is stale", "max-age=60", "only-if-cached", 61, .unavailable),
            (
                "9111 5.2.1.7", "only what is kept: it may be used stale", "max-age=60, stale-while-revalidate=30", "only-if-cached", 61,
                .stale
            ),
            ("9111 5.2.1.7", "only what is kept, if confirmed", "max-age=60", "only-if-cached, no-cache", 1, .unavailable),
            ("5861 4", "a request may permit it after an error", "max-age=60", "stale-if-error=30", 90, .askOrStale),
            ("5861 4", "within its bounds", "max-age=60", "stale-if-error=30", 90.001, .ask),
            ("5861 4", "and the origin's", "max-age=60, must-revalidate", "stale-if-error=30", 61, .ask),
            ("9111 5.2.1", "a directive for answers is none", "max-age=60", "public, s-maxage=0, must-revalidate", 30, .fresh),
        ].map { (section: String, sentence: String, answer: String, asks: String, after: Double, outcome: Outcome) in
            row(section, sentence, ["Cache-Control: \(answer)"], asks: ["Cache-Control: \(asks)"], after: after, outcome)
        } + [
            row(
                "9111 5.4", "Pragma says nothing in a request", ["Cache-Control: max-age=60"], asks: ["Pragma: no-cache"], after: 1, .fresh),
            row(
                "8246 3", "over http anybody could have said that it does not change", ["Cache-Control: max-age=60, immutable"],
                asks: ["Cache-Control: max-age=30"], url: "http://example.org/a", after: 31, .ask),
            row(
                "9111 5.2.1.1", "a batch is content with what is no older, fresh or stale", ["Cache-Control: max-age=10"], after: 3600,
                options: .accepting(upTo: .seconds(3600)), .stale),
            row(
                "9111 5.2.1.1", "and not with what is older", ["Cache-Control: max-age=10"], after: 3601,
                options: .accepting(upTo: .seconds(3600)), .ask),
            row(
                "9111 5.2.1.1", "of options and headers the stricter counts", ["Cache-Control: max-age=10"],
                asks: ["Cache-Control: max-age=60"], after: 61, options: .accepting(upTo: .seconds(3600)), .ask),
        ]
}
