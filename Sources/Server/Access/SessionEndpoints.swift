internal import Crawl
internal import GannetBase
internal import GannetHTTP
internal import Results

/// `/v1/session`: a browser's first question, its sign-in and its sign-out.
extension Gateway {
    private static let sessionShape: AnswerShape = [
        "schema": .integer, "needsToken": .flag, "signedIn": .flag, "readOnly": .flag, "runEnded": .flag, "queue": .text,
        "batch": .optional(.text), "thumbnails": .flag, "version": .text,
    ]

    var sessionEndpoints: [Endpoint] {
        let access = settings.access
        return [
            Endpoint(
                method: "GET", path: "/v1/session",
                summary: "The first question of a browser: whether it must sign in, and what it may do.",
                hasEffects: false, isOpen: true, shape: Self.sessionShape,
                reply: { .now(HTTPServiceAnswer(json: session($0.request))) }),
            Endpoint(
                method: "POST", path: "/v1/session",
                summary: "Signs a browser in: the answer to its token is a cookie that no script reads.",
                hasEffects: false, answers: [204: []],
                reply: { request in
                    guard let holder = request.holder else { return .now(HTTPServiceAnswer(status: 204)) }
                    let now = Moment.now.millisecondsSince1970 / 1000
                    return .now(Self.answer(access.cookies.header(for: access.tokens[holder], now: now)))
                }),
            Endpoint(
                method: "DELETE", path: "/v1/session", summary: "Signs a browser out.", hasEffects: false, isOpen: true, answers: [204: []],
                reply: { _ in .now(Self.answer(access.cookies.headerOfSignOut)) }),
        ]
    }

    private static func answer(_ cookie: String) -> HTTPServiceAnswer {
        HTTPServiceAnswer(status: 204, headers: [(name: "Set-Cookie", value: cookie), (name: "Cache-Control", value: "no-store")])
    }

    private func session(_ request: HTTPServiceRequest) -> JSONValue {
        let access = settings.access
        return [
            "schema": 1, "needsToken": .bool(!access.tokens.isEmpty), "signedIn": .bool(access.session(request) != nil),
            "readOnly": .bool(access.isReadOnly), "runEnded": .bool(hasRunEnded.isSet), "queue": .string(settings.queue),
            "batch": JSONValue(settings.batch), "thumbnails": .bool((try? pool.check()) != nil), "version": .string(Version.current),
        ]
    }
}
