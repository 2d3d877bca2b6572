@testable import FetchCache

extension Rule {
    /// May it be kept?
    static let storing: [Rule] = [
        Rule(
            section: "9111 3", sentence: "an answer with a lifetime is kept and used", answer: ["Cache-Control: max-age=60"], after: 1,
            outcome: .fresh),
        Rule(section: "9111 3", sentence: "one that says nothing is kept, and asked for each time", answer: [], after: 0, outcome: .ask),

        Rule(section: "9111 5.2.2.5", sentence: "no-store", answer: ["Cache-Control: no-store"], after: 0, outcome: .notKept(.noStore)),
        Rule(
            section: "9111 5.2", sentence: "directives are known in any case", answer: ["Cache-Control: No-StOrE"], after: 0,
            outcome: .notKept(.noStore)),
        Rule(
            section: "9111 4.2.1", sentence: "of what conflicts, what restricts most counts",
            answer: ["Cache-Control: public, max-age=60, no-store"],
            after: 0, outcome: .notKept(.noStore)),
        Rule(
            section: "9110 5.3", sentence: "all lines of a header count", answer: ["Cache-Control: max-age=60", "cache-control: no-store"],
            after: 0,
            outcome: .notKept(.noStore)),
        Rule(
            section: "9111 5.2.2.5", sentence: "no-store with an argument is no-store",
            answer: ["Cache-Control: max-age=60, no-store=\"a\""],
            after: 0, outcome: .notKept(.noStore)),
        Rule(
            section: "9111 5.2.1.5", sentence: "a request may forbid it", answer: ["Cache-Control: max-age=60"],
            request: ["Cache-Control: no-store"],
            after: 0, outcome: .notKept(.requestForbids)),

        Rule(
            section: "9111 5.2.2.7", sentence: "private", answer: ["Cache-Control: private, max-age=60"], after: 0,
            outcome: .notKept(.isPrivate)),
        Rule(
            section: "9111 4.2.1", sentence: "private beside public is private", answer: ["Cache-Control: public, private, s-maxage=60"],
            after: 0,
            outcome: .notKept(.isPrivate)),
        Rule(
            section: "9111 5.2.2.7", sentence: "private headers are left out, and the rest is kept",
            answer: ["Cache-Control: private=\"X-User, Set-Cookie\", max-age=60"], after: 0, outcome: .fresh),
        Rule(
            section: "9111 5.2", sentence: "which may be named without quotes", answer: ["Cache-Control: private=x-user, max-age=60"],
            after: 0,
            outcome: .fresh),
        Rule(
            section: "9111 5.2.2.7", sentence: "private with an empty list is private", answer: ["Cache-Control: private=\"\", max-age=60"],
            after: 0,
            outcome: .notKept(.isPrivate)),
        Rule(
            section: "9111 5.2.2.7", sentence: "and with what is no list", answer: ["Cache-Control: private=\"a b\", max-age=60"], after: 0,
            outcome: .notKept(.isPrivate)),
        Rule(
            section: "9111 5.2.2.7", sentence: "and with a header that says how to keep it",
            answer: ["Cache-Control: private=\"vary\", max-age=60"], after: 0, outcome: .notKept(.isPrivate)),

        Rule(
            section: "9111 3.5", sentence: "what came to a request with Authorization is not for others",
            answer: ["Cache-Control: max-age=60"],
            request: ["Authorization: Basic eA=="], after: 0, outcome: .notKept(.credentials)),
        Rule(
            section: "9111 3.5", sentence: "unless it says public", answer: ["Cache-Control: max-age=60, public"],
            request: ["Authorization: Basic eA=="], after: 0, outcome: .fresh),
        Rule(
            section: "9111 3.5", sentence: "or s-maxage", answer: ["Cache-Control: s-maxage=60"], request: ["Authorization: Basic eA=="],
            after: 0,
            outcome: .fresh),
        Rule(
            section: "9111 3.5", sentence: "or must-revalidate", answer: ["Cache-Control: max-age=60, must-revalidate"],
            request: ["Authorization: Basic eA=="], after: 0, outcome: .fresh),
        Rule(
            section: "9111 3.5", sentence: "an s-maxage that is no number permits nothing", answer: ["Cache-Control: s-maxage=a"],
            request: ["Authorization: Basic eA=="], after: 0, outcome: .notKept(.credentials)),
        Rule(
            section: "9111 3.5", sentence: "nor does a public that says something else", answer: ["Cache-Control: public=no, max-age=60"],
            request: ["Authorization: Basic eA=="], after: 0, outcome: .notKept(.credentials)),
        Rule(
            section: "9111 3.5", sentence: "nor anything that is badly written",
            answer: ["Cache-Control: public, max-age=60, a=\""], request: ["Authorization: Basic eA=="], after: 0,
            outcome: .notKept(.credentials)),
        Rule(
            section: "9111 3.5", sentence: "a cookie says who asks, too", answer: ["Cache-Control: max-age=60"], request: ["Cookie: id=1"],
            after: 0,
            outcome: .notKept(.credentials)),
        Rule(
            section: "9111 3.5", sentence: "and an API key", answer: ["Cache-Control: max-age=60"], request: ["X-Api-Key: 1"], after: 0,
            outcome: .notKept(.credentials)),
        Rule(
            section: "9111 3.5", sentence: "and a password in the URL", answer: ["Cache-Control: max-age=60"],
            url: "https://me:pw@example.org/",
            after: 0, outcome: .notKept(.credentials)),
        Rule(
            section: "9111 3.5", sentence: "what strangers got is not used for who says who they are",
            answer: ["Cache-Control: max-age=60"],
            asks: ["Authorization: Basic eA=="], after: 0, outcome: .ask),
        Rule(
            section: "9111 3.5", sentence: "unless it is everybody's", answer: ["Cache-Control: max-age=60, public"],
            asks: ["Authorization: Basic eA=="], after: 0, outcome: .fresh),

        Rule(
            section: "9111 7.3", sentence: "a cookie that is set does not keep it from being kept",
            answer: ["Cache-Control: max-age=60", "Set-Cookie: a=b"],
            after: 0, outcome: .fresh),
        Rule(
            section: "9111 7.3", sentence: "but from being guessed about", answer: ["Last-Modified: {-864000}", "Set-Cookie: a=b"],
            after: 0, outcome: .ask),
        Rule(
            section: "9111 3.3", sentence: "a body that was cut is no answer", answer: ["Cache-Control: max-age=60"], isComplete: false,
            after: 0,
            outcome: .notKept(.incomplete)),
    ]

    /// What the status has to do with it.
    static let statuses: [Rule] =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 451, 501].map {
            Rule(
                section: $0 == 451 ? "7725 3" : "9110 15.1", sentence: "\($0) may be kept for a guessed time", status: $0,
                answer: ["Last-Modified: {-864000}"], after: 0, outcome: .fresh)
        }
        + [201, 302, 303, 307, 400, 403, 500, 503, 599].map {
            Rule(
                section: "9110 15.1", sentence: "\($0) may not", status: $0, answer: ["Last-Modified: {-864000}"], after: 0,
                outcome: .notKept(.noLifetime))
        }
        + [201, 302, 403, 500, 599].map {
            Rule(
                section: "9111 3", sentence: "\($0) may be kept for the time it gives", status: $0, answer: ["Cache-Control: max-age=60"],
                after: 0,
                outcome: .fresh)
        }
        + [428, 429, 431, 511].map {
            Rule(
                section: "6585 3-6", sentence: "\($0) must not be kept", status: $0, answer: ["Cache-Control: max-age=60, public"],
                after: 0,
                outcome: .notKept(.status))
        } + [
            Rule(
                section: "9111 3", sentence: "Expires is a lifetime", status: 201, answer: ["Expires: {60}"], after: 0, outcome: .fresh),
            Rule(
                section: "9111 4.2.2", sentence: "public makes any status one to guess about", status: 201,
                answer: ["Cache-Control: public", "Last-Modified: {-864000}"], after: 0, outcome: .fresh),
            Rule(
                section: "9111 3.3", sentence: "a part is not kept", status: 206, answer: ["Cache-Control: max-age=60"], after: 0,
                outcome: .notKept(.partial)),
            Rule(
                section: "9111 4.3.3", sentence: "304 is no answer by itself", status: 304, answer: ["Cache-Control: max-age=60"], after: 0,
                outcome: .notKept(.notModified)),
            Rule(
                section: "9111 3", sentence: "nor is what comes before the answer", status: 103, answer: ["Cache-Control: max-age=60"],
                after: 0,
                outcome: .notKept(.interim)),
            Rule(
                section: "9111 5.2.2.3", sentence: "who understands the status passes over no-store beside must-understand",
                answer: ["Cache-Control: max-age=60, no-store, must-understand"], after: 0, outcome: .fresh),
            Rule(
                section: "9111 5.2.2.3", sentence: "who does not keeps nothing", status: 599,
                answer: ["Cache-Control: max-age=60, no-store, must-understand"], after: 0, outcome: .notKept(.notUnderstood)),
            Rule(
                section: "9111 3", sentence: "and nothing without no-store either", status: 599,
                answer: ["Cache-Control: max-age=60, must-understand"], after: 0, outcome: .notKept(.notUnderstood)),
        ]
}
