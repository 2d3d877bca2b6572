@testable import GannetHTTP

extension Rule {
    private static func redirected(
        _ section: String, _ sentence: String, by hops: [(status: Int, headers: [String])], asks: [String] = [], after: Double = 30,
        _ outcome: Outcome
    ) -> Rule {
        row(section, sentence, ["Cache-Control: max-age=60, stale-if-error=60"], asks: asks, redirects: hops, after: after, outcome)
    }

    /// What do the answers on the way say? Kept under the first URL is what all of them together led to.
    static let redirected: [Rule] = [
        redirected("9110 15.4.3", "one for now has to be asked for again", by: [(302, [])], .ask),
        redirected("9110 15.4.8", "and so has another", by: [(307, [])], .ask),
        redirected("9110 15.4.3", "unless it gives a lifetime", by: [(302, ["Cache-Control: max-age=60"])], .fresh),
        redirected("9111 4.2.1", "for as long as that is", by: [(302, ["Cache-Control: max-age=20"])], .ask),
        redirected("9110 15.4.2", "one for good is believed", by: [(301, [])], .fresh),
        redirected("9110 15.4.9", "of either kind", by: [(308, [])], .fresh),
        redirected("9111 4.2.1", "unless it gives a lifetime that is over", by: [(301, ["Expires: 0"])], .ask),
        redirected("9111 4.2.1", "the weakest of several counts", by: [(301, []), (302, ["Cache-Control: max-age=20"]), (301, [])], .ask),
        redirected("9111 4.2.3", "its age counts", by: [(302, ["Cache-Control: max-age=60", "Age: 40"])], .ask),
        redirected("9111 5.2.2.5", "one that may not be kept", by: [(301, ["Cache-Control: no-store"])], .notKept(.noStore)),
        redirected("9111 5.2.2.7", "one for one user", by: [(301, ["Cache-Control: private"])], .notKept(.isPrivate)),
        redirected("9111 5.2.2.4", "one that must be asked for", by: [(301, ["Cache-Control: no-cache"])], .ask),
        redirected(
            "9111 5.2.2.2", "one that must not be used stale",
            by: [(301, ["Cache-Control: max-age=20, must-revalidate, stale-if-error=60"])], .ask),
        redirected(
            "9111 5.2.2.2", "whoever is content with it", by: [(301, ["Cache-Control: max-age=20, must-revalidate"])],
            asks: ["Cache-Control: max-stale"], .ask),
        redirected(
            "9111 5.2.1.1", "it is as old as the oldest", by: [(301, ["Cache-Control: max-age=600", "Age: 40"])],
            asks: ["Cache-Control: max-age=69"], .ask),
        redirected(
            "9111 5.2.1.1", "and no older", by: [(301, ["Cache-Control: max-age=600", "Age: 40"])], asks: ["Cache-Control: max-age=70"],
            .fresh),
        redirected("5861 4", "both permit it after an error", by: [(302, ["Cache-Control: max-age=20, stale-if-error=60"])], .askOrStale),
        redirected(
            "9111 4.1", "one that depends on the request's headers is for the same request",
            by: [(302, ["Cache-Control: max-age=60", "Vary: X-Device"])], .fresh),
        redirected(
            "9111 4.1", "one that depends on anything", by: [(302, ["Cache-Control: max-age=60", "Vary: *"])], .notKept(.variesByAnything)),
    ]

    private static func configured(
        _ sentence: String, _ answer: [String], after: Double = 0, _ outcome: Outcome, _ change: (inout FreshnessPolicy) -> Void
    ) -> Rule {
        var policy = FreshnessPolicy()
        change(&policy)
        return row("9111 4.2.4", sentence, answer, after: after, policy: policy, outcome)
    }

    /// Settings of the policy, for the questions that RFC 9111 leaves to caches.
    static let configured: [Rule] = [
        configured("no longer than the longest", ["Cache-Control: max-age=3600"], after: 60, .ask) { $0.maximumLifetime = .seconds(60) },
        configured("no shorter than the least", ["Cache-Control: max-age=1"], after: 59, .fresh) { $0.minimumLifetime = .seconds(60) },
        configured("counted from when it came", ["Cache-Control: max-age=1", "Age: 100"], after: 59, .fresh) {
            $0.minimumLifetime = .seconds(60)
        },
        configured("also where it says nothing", [], after: 59, .fresh) { $0.minimumLifetime = .seconds(60) },
        configured("but not against must-revalidate", ["Cache-Control: max-age=1, must-revalidate"], after: 30, .ask) {
            $0.minimumLifetime = .seconds(60)
        },
        configured("nor against no-cache", ["Cache-Control: no-cache"], .ask) { $0.minimumLifetime = .seconds(60) },
        configured("nor for who sets a cookie", ["Cache-Control: max-age=1", "Set-Cookie: a=b"], after: 30, .ask) {
            $0.minimumLifetime = .seconds(60)
        },
        configured("after an error, where it does not say", ["Cache-Control: max-age=60"], after: 89, .askOrStale) {
            $0.staleIfError = .seconds(30)
        },
        configured("not when it says otherwise", ["Cache-Control: max-age=60, stale-if-error=0"], after: 61, .ask) {
            $0.staleIfError = .seconds(30)
        },
        configured("nor against must-revalidate", ["Cache-Control: max-age=60, must-revalidate"], after: 61, .ask) {
            $0.staleIfError = .seconds(30)
        },
        configured("nor for who sets a cookie after an error", ["Cache-Control: max-age=60", "Set-Cookie: a=b"], after: 61, .ask) {
            $0.staleIfError = .seconds(30)
        },
        configured("staleness has a limit after an error", ["Cache-Control: max-age=60, stale-if-error=600"], after: 90, .ask) {
            $0.maximumStaleness = .seconds(30)
        },
        configured("and before", ["Cache-Control: max-age=60, stale-while-revalidate=600"], after: 90, .ask) {
            $0.maximumStaleness = .seconds(30)
        },
        configured("no guesses", ["Last-Modified: {-86400000}"], .ask) { $0.heuristicFraction = 0 },
        configured("bolder guesses", ["Last-Modified: {-6000}"], after: 2999, .fresh) { $0.heuristicFraction = 0.5 },
        configured("shorter guesses", ["Last-Modified: {-86400000}"], after: 60, .ask) { $0.heuristicMaximum = .seconds(60) },
        configured("a least guess where nothing is said", [], after: 59, .fresh) { $0.heuristicMinimum = .seconds(60) },
        configured("and no longer", [], after: 60, .ask) { $0.heuristicMinimum = .seconds(60) },
        configured("not where something is said", ["Cache-Control: max-age=5"], after: 6, .ask) {
            $0.heuristicMinimum = .seconds(60)
        },
        configured("nor for who sets a cookie", ["Set-Cookie: a=b"], after: 1, .ask) { $0.heuristicMinimum = .seconds(60) },
        configured("clocks that differ more", ["Cache-Control: max-age=60"], after: -60, .fresh) { $0.clockTolerance = .seconds(60) },
    ]
}
