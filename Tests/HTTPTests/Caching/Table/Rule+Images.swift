@testable import GannetHTTP

extension Rule {
    private static func image(
        _ sentence: String, _ answer: [String], body hasImageBody: Bool = false, status: Int = 200,
        redirects: [(status: Int, headers: [String])] = [], after: Double = 3599, policy: FreshnessPolicy = FreshnessPolicy(),
        _ outcome: Outcome
    ) -> Rule {
        var rule = row("9111 4.2.2", sentence, answer, status: status, redirects: redirects, after: after, policy: policy, outcome)
        rule.hasImageBody = hasImageBody
        return rule
    }

    private static let png = "Content-Type: image/png"

    /// The lifetime of pictures that give none.
    static let images: [Rule] = [
        image("a picture without a lifetime is fresh for an hour", [png], .fresh),
        image("and no longer", [png], after: 3600, .ask),
        image("whatever the case and parameters of its type", ["Content-Type: IMAGE/SVG+xml; charset=utf-8"], .fresh),
        image("a document is not", ["Content-Type: application/json"], after: 0, .ask),
        image("also if its bytes look like a picture", ["Content-Type: text/plain"], body: true, after: 0, .ask),
        image("bytes tell where there is no type", [], body: true, .fresh),
        image("and where the type says nothing", ["Content-Type: application/octet-stream"], body: true, .fresh),
        image("in either form", ["Content-Type: binary/octet-stream"], body: true, .fresh),
        image("bytes of something else do not", [], after: 0, .ask),
        image("a lifetime that is given is shorter", [png, "Cache-Control: max-age=60"], after: 60, .ask),
        image("or over", [png, "Expires: 0"], after: 0, .ask),
        image("or unreadable", [png, "Cache-Control: max-age=x"], after: 0, .ask),
        image("no-store wins", [png, "Cache-Control: no-store"], .notKept(.noStore)),
        image("no-cache wins", [png, "Cache-Control: no-cache"], after: 0, .ask),
        image("private wins", [png, "Cache-Control: private"], .notKept(.isPrivate)),
        image("a picture with a cookie may be one visitor's", [png, "Set-Cookie: a=b"], after: 0, .ask),
        image("a guess from the last change may be longer", [png, "Last-Modified: {-100000}"], after: 9999, .fresh),
        image("and is not shorter", [png, "Last-Modified: {-100}"], .fresh),
        image("the longest guess is the longest", [png], after: 60, policy: FreshnessPolicy { $0.heuristicMaximum = .seconds(60) }, .ask),
        image("it can be turned off", [png], after: 0, policy: FreshnessPolicy { $0.heuristicForImages = .zero }, .ask),
        image("201 permits no guess", [png], status: 201, .notKept(.noLifetime)),
        image("a temporary redirect is asked again", [png], redirects: [(302, [])], after: 0, .ask),
        image("a permanent one is not", [png], redirects: [(301, [])], .fresh),
    ]
}
