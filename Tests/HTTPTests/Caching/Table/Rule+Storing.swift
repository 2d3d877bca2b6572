@testable import GannetHTTP

extension Rule {
    /// May it be kept?
    static let storing: [Rule] = [
        row("9111 3", "an answer with a lifetime is kept and used", ["Cache-Control: max-age=60"], after: 1, .fresh),
        row("9111 3", "one that says nothing is kept, and asked for each time", [], .ask),

        row("9111 5.2.2.5", "no-store", ["Cache-Control: no-store"], .notKept(.noStore)),
        row("9111 5.2", "directives are known in any case", ["Cache-Control: No-StOrE"], .notKept(.noStore)),
        row(
            "9111 4.2.1", "of what conflicts, what restricts most counts", ["Cache-Control: public, max-age=60, no-store"],
            .notKept(.noStore)),
        row("9110 5.3", "all lines of a header count", ["Cache-Control: max-age=60", "cache-control: no-store"], .notKept(.noStore)),
        row("9111 5.2.2.5", "no-store with an argument is no-store", ["Cache-Control: max-age=60, no-store=\"a\""], .notKept(.noStore)),
        row(
            "9111 5.2.1.5", "a request may forbid it", ["Cache-Control: max-age=60"], request: ["Cache-Control: no-store"],
            .notKept(.requestForbids)),

        row("9111 5.2.2.7", "private", ["Cache-Control: private, max-age=60"], .notKept(.isPrivate)),
        row("9111 4.2.1", "private beside public is private", ["Cache-Control: public, private, s-maxage=60"], .notKept(.isPrivate)),
        row(
            "9111 5.2.2.7", "private headers are left out, and the rest is kept",
            ["Cache-Control: private=\"X-User, Set-Cookie\", max-age=60"], .fresh),
        row("9111 5.2", "which may be named without quotes", ["Cache-Control: private=x-user, max-age=60"], .fresh),
        row("9111 5.2.2.7", "private with an empty list is private", ["Cache-Control: private=\"\", max-age=60"], .notKept(.isPrivate)),
        row("9111 5.2.2.7", "and with what is no list", ["Cache-Control: private=\"a b\", max-age=60"], .notKept(.isPrivate)),
        row(
            "9111 5.2.2.7", "and with a header that says how to keep it", ["Cache-Control: private=\"vary\", max-age=60"],
            .notKept(.isPrivate)),

        row(
            "9111 3.5", "what came to a request with Authorization is not for others", ["Cache-Control: max-age=60"],
            request: ["Authorization: Basic eA=="], .notKept(.credentials)),
        row("9111 3.5", "unless it says public", ["Cache-Control: max-age=60, public"], request: ["Authorization: Basic eA=="], .fresh),
        row("9111 3.5", "or s-maxage", ["Cache-Control: s-maxage=60"], request: ["Authorization: Basic eA=="], .fresh),
        row(
            "9111 3.5", "or must-revalidate", ["Cache-Control: max-age=60, must-revalidate"], request: ["Authorization: Basic eA=="], .fresh
        ),
        row(
            "9111 3.5", "an s-maxage that is no number permits nothing", ["Cache-Control: s-maxage=a"],
            request: ["Authorization: Basic eA=="], .notKept(.credentials)),
        row(
            "9111 3.5", "nor does a public that says something else", ["Cache-Control: public=no, max-age=60"],
            request: ["Authorization: Basic eA=="], .notKept(.credentials)),
        row(
            "9111 3.5", "nor anything that is badly written", ["Cache-Control: public, max-age=60, a=\""],
            request: ["Authorization: Basic eA=="], .notKept(.credentials)),
        row("9111 3.5", "a cookie says who asks, too", ["Cache-Control: max-age=60"], request: ["Cookie: id=1"], .notKept(.credentials)),
        row("9111 3.5", "and an API key", ["Cache-Control: max-age=60"], request: ["X-Api-Key: 1"], .notKept(.credentials)),
        row(
            "9111 3.5", "and a password in the URL", ["Cache-Control: max-age=60"], url: "https://me:pw@example.org/",
            .notKept(.credentials)),
        row(
            "9111 3.5", "what strangers got is not used for who says who they are", ["Cache-Control: max-age=60"],
            asks: ["Authorization: Basic eA=="], .ask),
        row("9111 3.5", "unless it is everybody's", ["Cache-Control: max-age=60, public"], asks: ["Authorization: Basic eA=="], .fresh),

        row("9111 7.3", "a cookie that is set does not keep it from being kept", ["Cache-Control: max-age=60", "Set-Cookie: a=b"], .fresh),
        row("9111 7.3", "but from being guessed about", ["Last-Modified: {-864000}", "Set-Cookie: a=b"], .ask),
    ]

    /// Rules about the status.
    static let statuses: [Rule] =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 451, 501].map {
            row(
                $0 == 451 ? "7725 3" : "9110 15.1", "\($0) may be kept for a guessed time", ["Last-Modified: {-864000}"], status: $0, .fresh
            )
        }
        + [201, 302, 303, 307, 400, 403, 500, 503, 599].map {
            row("9110 15.1", "\($0) may not", ["Last-Modified: {-864000}"], status: $0, .notKept(.noLifetime))
        }
        + [201, 302, 403, 500, 599].map {
            row("9111 3", "\($0) may be kept for the time it gives", ["Cache-Control: max-age=60"], status: $0, .fresh)
        }
        + [428, 429, 431, 511].map {
            row("6585 3-6", "\($0) must not be kept", ["Cache-Control: max-age=60, public"], status: $0, .notKept(.status))
        } + [
            row("9111 3", "Expires is a lifetime", ["Expires: {60}"], status: 201, .fresh),
            row(
                "9111 4.2.2", "public makes any status one to guess about", ["Cache-Control: public", "Last-Modified: {-864000}"],
                status: 201, .fresh),
            row("9111 3.3", "a part is not kept", ["Cache-Control: max-age=60"], status: 206, .notKept(.partial)),
            row("9111 4.3.3", "304 is no answer by itself", ["Cache-Control: max-age=60"], status: 304, .notKept(.notModified)),
            row("9111 3", "nor is what comes before the answer", ["Cache-Control: max-age=60"], status: 103, .notKept(.interim)),
            row(
                "9111 5.2.2.3", "who understands the status passes over no-store beside must-understand",
                ["Cache-Control: max-age=60, no-store, must-understand"], .fresh),
            row(
                "9111 5.2.2.3", "who does not keeps nothing", ["Cache-Control: max-age=60, no-store, must-understand"], status: 599,
                .notKept(.notUnderstood)),
            row(
                "9111 3", "and nothing without no-store either", ["Cache-Control: max-age=60, must-understand"], status: 599,
                .notKept(.notUnderstood)),
        ]
}
