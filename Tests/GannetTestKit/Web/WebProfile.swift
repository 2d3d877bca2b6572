/// The shares of a made-up web: how many hosts are dead, slow or angry, how late answers are, and how large bodies.
///
/// The shares rest on these published figures:
///
/// - Downloads of LAION-400M by img2dataset succeed for 83 to 87 % of the URLs, two years after the list was made. The author counts with 1 % of
///   link rot a month (github.com/rom1504/img2dataset/issues/277). DataComp-1B: 88.3 % (github.com/mlfoundations/datacomp/issues/41).
/// - One shard of GBC1M, 10,000 URLs: 754 answer 404, 488 answer 403, and 170 have no name. 68 time out, 76 are closed without an answer,
///   7 are refused, and 16 fail in TLS (huggingface.co/datasets/shichen1231/GBC1M_webdata, 00010_stats.json).
/// - A scan of ten million popular domains found 14.1 % dead, and three quarters of these without a name (crawlora.net, 2026).
/// - 52 to 63 % of the hosts of Common Crawl had a robots.txt in the years 2016 to 2023 (padas-lab-de.github.io/robotstxt-study). Hosts of pictures
///   have one less often, so `usual` counts with 30 %.
///
/// No source was found for the latency by host, for the share of slow hosts, or for the tail of sizes. These are guesses.
package struct WebProfile: Sendable, Equatable {
    package var name: String
    /// The share of hosts that never give a good answer.
    package var dead = 0.0
    /// The share of hosts that answer after seconds.
    package var slow = 0.0
    /// The time that slow hosts take, in seconds.
    package var slowSeconds = 3.0...10.0
    /// The share of hosts that answer 429 and 503.
    package var angry = 0.0
    /// The share of hosts that die, come back, or become slow while the list is fetched.
    package var moving = 0.0
    /// The share of the list that is at one host.
    package var giant = 0.0
    /// The share of hosts that have a robots.txt. The others answer 404 for it.
    package var robots = 0.3
    /// The share of URLs of these hosts that robots.txt disallows.
    package var disallowed = 0.02
    /// The share of hosts that speak TLS.
    package var tls = 0.5
    /// The median over hosts of the time from a request to its answer, in seconds. Zero is no latency at all.
    package var latency = 0.2
    /// The spread of the latency: the standard deviation of its logarithm.
    package var latencySpread = 0.6
    /// The time that a name takes to resolve, in seconds.
    package var nameLatency = 0.02
    /// The share of URLs with each misbehaviour.
    package var misbehaviour: [WebURL.Kind: Double] = usualMisbehaviour

    private static let usualMisbehaviour: [WebURL.Kind: Double] = [
        .missing: 0.06, .redirect: 0.02, .selfRedirect: 0.001, .cut: 0.002, .endless: 0.0003, .badEncoding: 0.001,
    ]

    /// Every host and URL is good.
    package static let clean = WebProfile(name: "clean", disallowed: 0, misbehaviour: [:])
    /// A list as people have it: 9 % of the hosts are dead, and 2 % slow.
    package static let usual = WebProfile(name: "usual", dead: 0.09, slow: 0.02)
    /// A third of the hosts is dead.
    package static let rotten = WebProfile(name: "rotten", dead: 0.33, slow: 0.02)
    /// A tenth of the hosts takes 5 to 20 s to answer.
    package static let slow = WebProfile(name: "slow", slow: 0.1, slowSeconds: 5...20)
    /// A fifth of the hosts answers 429 or 503 for the first seconds, or when it is asked too often.
    package static let angry = WebProfile(name: "angry", dead: 0.02, angry: 0.2)
    /// Half of the list is at one host.
    package static let giant = WebProfile(name: "giant", dead: 0.05, slow: 0.01, giant: 0.5)
    /// Some hosts change while the list is fetched.
    package static let moving = WebProfile(name: "moving", dead: 0.03, moving: 0.2)

    package static let all: [WebProfile] = [clean, usual, rotten, slow, angry, giant, moving]

    package static func named(_ name: String) -> WebProfile? { all.first { $0.name == name } }

    /// The same list at hosts that answer at once and do not misbehave: it shows the work of the processor alone.
    package func withoutTrouble() -> WebProfile {
        WebProfile(
            name: name, slow: slow, angry: angry, moving: moving, giant: giant, robots: robots, disallowed: disallowed, tls: tls,
            latency: 0,
            nameLatency: 0, misbehaviour: misbehaviour.filter { $0.key == .missing || $0.key == .redirect }, isTame: true)
    }

    /// Whether slow, angry and moving hosts behave like all others. They keep their parts of the list.
    package var isTame = false
}
